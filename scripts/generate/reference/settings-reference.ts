import { envName } from "@rockbot/process/config";
import { code, fillPage, table } from "../fill-page.ts";
import type { JsonSchema } from "../schema-document.ts";

/**
 * `docs/reference/settings.md`: all that can be set for each service.
 * @param configs the schema of each service's settings
 */
export async function settingsReference(configs: ReadonlyMap<string, JsonSchema>): Promise<string> {
  const sections = [...configs].map(([service, { properties = {} }]) =>
    [
      `## ${service}`,
      "",
      table(
        ["setting", "variable", "type", "default", "meaning"],
        Object.entries(properties).map(([name, schema]) => [
          code(name),
          variables(name, schema),
          type(schema),
          standard(schema),
          meaning(name, schema, service),
        ]),
      ),
    ].join("\n"),
  );
  return fillPage("settings", "services/*/config.schema.yaml and services/settings.yaml", {
    services: sections.join("\n\n"),
  });
}

const variables = (name: string, schema: JsonSchema): string =>
  `${code(envName(name))}${schema["x-secret"] === true ? " (secret)" : ""}`;

function type(schema: JsonSchema): string {
  const values = schema["enum"] as readonly unknown[] | undefined;
  if (values !== undefined) return values.map((value) => code(String(value))).join(" ");
  const [least, most] = [schema["minimum"], schema["maximum"]];
  const name = [schema["type"]].flat().join(" or ");
  return name === "array" ? "list" : least === undefined ? name : `${name}, ${least} to ${most}`;
}

const standard = ({ default: value }: JsonSchema): string =>
  value === undefined || (Array.isArray(value) && value.length === 0)
    ? ""
    : code(Array.isArray(value) ? value.join(",") : String(value));

function meaning(name: string, { description }: JsonSchema, service: string): string {
  if (description === undefined)
    throw new Error(`Cannot generate: the setting ${name} of ${service} has no description`);
  return description;
}
