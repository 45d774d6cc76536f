import type { JsonSchema } from "./schema-document.ts";

const REFERENCE = "../settings.yaml#/";

/**
 * The schema with each property that refers to a setting of `services/settings.yaml` replaced by it; what stands beside the reference wins.
 * @throws {Error} if there is no such setting
 */
export function withSettings(schema: JsonSchema, settings: Readonly<Record<string, object>>): JsonSchema {
  const properties = Object.entries(schema.properties ?? {}).map(([name, { $ref, ...own }]): [string, JsonSchema] => {
    if (typeof $ref !== "string" || !$ref.startsWith(REFERENCE)) return [name, $ref === undefined ? own : { $ref, ...own }];
    const setting = settings[$ref.slice(REFERENCE.length)];
    if (setting === undefined) throw new Error(`Cannot generate: ${name} refers to ${$ref}, which is not there`);
    return [name, { ...setting, ...own }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}
