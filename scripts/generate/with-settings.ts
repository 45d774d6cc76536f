import type { JsonSchema } from "./schema-document.ts";

const REFERENCE = "../settings.yaml#/";

/**
 * Which settings of `services/settings.yaml` a schema has by `x-settings`: those of every process, or of every process
 * on the bus.
 */
const process = ["shutdownGraceMs", "healthPort", "healthHost", "logLevel", "logFormat", "traceRatio"];
const bus = [
  "busUrl",
  "busHeartbeatSeconds",
  "busSilenceMs",
  "redisUrl",
  "redisKeepsAll",
  "policyFile",
  "auditFile",
  "auditKey",
  "auditRequired",
  "operatorPublicKey",
];
const common: Readonly<Record<string, readonly string[]>> = { process, bus: [...bus, ...process] };

/**
 * The schema with its common settings, and with each property that refers to a setting of `services/settings.yaml`
 * replaced by it; what stands beside the reference wins.
 * @throws {Error} if there is no such setting
 */
export function withSettings(schema: JsonSchema, settings: Readonly<Record<string, object>>): JsonSchema {
  const { "x-settings": group, ...rest } = schema as JsonSchema & { readonly "x-settings"?: string };
  const names = group === undefined ? [] : common[group];
  if (names === undefined) throw new Error(`x-settings is "${group}"; there are: ${Object.keys(common).join(", ")}`);
  const own = rest.properties ?? {};
  const shared = names
    .filter((name) => !(name in own))
    .map((name): [string, JsonSchema] => [name, { $ref: `${REFERENCE}${name}` }]);
  const properties = [...Object.entries(own), ...shared].map(([name, { $ref, ...own }]): [string, JsonSchema] => {
    if (typeof $ref !== "string" || !$ref.startsWith(REFERENCE))
      return [name, $ref === undefined ? own : { $ref, ...own }];
    const setting = settings[$ref.slice(REFERENCE.length)];
    if (setting === undefined) throw new Error(`${name} refers to ${$ref}, which is not there`);
    return [name, { ...setting, ...own }];
  });
  return { ...rest, properties: Object.fromEntries(properties) };
}
