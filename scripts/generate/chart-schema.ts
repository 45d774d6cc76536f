import type { JsonSchema } from "./schema-document.ts";
import type { ChartedService } from "./services-json.ts";

/** What the chart decides of each service's settings, beside secrets, and what is of other runners than its own. */
const DECIDED = new RegExp(
  `^(${[
    "policyFile|audit(File|Key)|dataDirectory|healthHost|healthPort|host|port|mcpConfig|mcpLockFile|schedulesFile",
    "runner|unsafeLocalScripts|container.*",
    "pip(IndexUrl|Wheels|Certificates)|packages(Folder|Volume)",
    "kubeconfigFile|kubernetes(UnverifiedTls|Namespace|RuntimeClass|PriorityClass|ServiceAccount)",
  ].join("|")})$`,
);

/**
 * The schema of the chart's values, with a property for each service: that of `definitions.service`, with the service's
 * settings, none of which has to be given, and the names of its secrets.
 * @param configs the schema of each service's settings
 * @param mcpServer that of an entry of mcp.json
 */
export function chartSchema(
  schema: JsonSchema,
  services: readonly ChartedService[],
  configs: ReadonlyMap<string, JsonSchema>,
  mcpServer: JsonSchema,
): string {
  const definitions = schema["definitions"] as Record<string, JsonSchema>;
  const shared = Object.keys(definitions["service"]?.properties ?? {});
  const own = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const keys = services.map((service): [string, JsonSchema] => {
    const properties = Object.fromEntries(
      shared.map((name): [string, JsonSchema] => [name, { $ref: `#/definitions/service/properties/${name}` }]),
    );
    const more = own[service.key]?.properties ?? {};
    return [
      service.key,
      {
        description: service.summary,
        type: "object",
        additionalProperties: false,
        properties: {
          ...properties,
          ...more,
          settings: settingsOf(service, configs.get(service.name)),
          secrets: secretsOf(service),
        },
      },
    ];
  });
  const filledIn = {
    ...schema,
    properties: { ...own, ...Object.fromEntries(keys) },
    definitions: { ...definitions, mcpServer: { ...mcpServer, additionalProperties: false } },
  };
  return `${JSON.stringify(filledIn, (key, value: unknown) => (key.startsWith("x-") ? undefined : value), 2)}\n`;
}

function settingsOf({ secrets }: ChartedService, { properties = {} }: JsonSchema = {}): JsonSchema {
  const settable = Object.entries(properties).filter(
    ([name, setting]) => !DECIDED.test(name) && setting["x-secret"] !== true,
  );
  return {
    description: `None of ${secrets.join(", ")}, which are secrets.`,
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(settable),
  };
}

function secretsOf({ secrets }: ChartedService): JsonSchema {
  const name = { enum: secrets };
  return {
    type: "object",
    additionalProperties: false,
    properties: {
      existingSecret: { $ref: "#/definitions/secretName" },
      keys: { type: "array", uniqueItems: true, items: name },
      from: { type: "object", propertyNames: name, additionalProperties: { $ref: "#/definitions/secretKey" } },
    },
  };
}
