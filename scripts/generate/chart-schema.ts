import type { JsonSchema } from "./schema-document.ts";

/**
 * The schema of a chart's values, where each `x-settingsOf: SERVICE` stands for the settings of that service, none of which has to be given. `x-without` holds
 * patterns of the names that are left out.
 * @param configs the schema of each service's settings
 * @throws {Error} if there is no such service
 */
export function chartSchema(schema: JsonSchema, configs: ReadonlyMap<string, JsonSchema>): string {
  const filledIn = JSON.stringify(
    schema,
    (key, value: unknown) => {
      if (key.startsWith("x-")) return undefined;
      const { "x-settingsOf": service, "x-without": without } = (value ?? {}) as { "x-settingsOf"?: string; "x-without"?: readonly string[] };
      return service === undefined ? value : settingsOf(configs, service, without);
    },
    2,
  );
  return `${filledIn}\n`;
}

function settingsOf(configs: ReadonlyMap<string, JsonSchema>, service: string, without: readonly string[] = []): JsonSchema {
  const properties = configs.get(service)?.properties;
  if (properties === undefined) throw new Error(`Cannot generate: the chart's values have settings of ${service}, which is no service`);
  const leftOut = new RegExp(`^(${without.join("|")})$`);
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !leftOut.test(name))) };
}
