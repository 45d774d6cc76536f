import { schemaCompiler } from "@rockbot/policy";

/** Why final reports cannot be checked by the schema, in words; none if they can. */
export async function schemaFaults(schema: object | undefined): Promise<readonly string[]> {
  if (schema === undefined) return [];
  const compile = await schemaCompiler();
  try {
    compile(schema);
    return [];
  } catch (error) {
    return [`is no JSON Schema that can be used: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`];
  }
}
