import { type CompilerOptions, schemaCompiler } from "@rockbot/policy";

/** Why nothing can be checked by the schema, in words; none if they can. */
export async function schemaFaults(schema: object | undefined, options?: CompilerOptions): Promise<readonly string[]> {
  if (schema === undefined) return [];
  const compile = await schemaCompiler(options);
  try {
    compile(schema);
    return [];
  } catch (error) {
    return [`is not a usable JSON Schema: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`];
  }
}
