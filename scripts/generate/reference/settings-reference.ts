import { envName } from "@rockbot/process/config";
import { code, fillPage, table } from "../fill-page.ts";
import type { JsonSchema } from "../schema-document.ts";

type Row = readonly string[];

/**
 * `docs/reference/settings.md`: all that can be set for each service. What all services have alike stands once, and what
 * those on the bus have alike.
 * @param configs the schema of each service's settings
 */
export async function settingsReference(configs: ReadonlyMap<string, JsonSchema>): Promise<string> {
  const rows = new Map([...configs].map(([service, schema]) => [service, rowsOf(service, schema)]));
  const onBus = [...rows].filter(([, own]) => own.has("busUrl")).map(([service]) => service);
  const everywhere = alike(rows, [...rows.keys()]);
  const everyBus = new Map([...alike(rows, onBus)].filter(([name]) => !everywhere.has(name)));
  const sections = [
    section("Every service", everywhere),
    section("Every service on the bus", everyBus),
    ...[...rows].map(([service, own]) => section(service, without(own, everywhere, everyBus))),
  ];
  return fillPage("settings", "services/*/config.schema.yaml and services/settings.yaml", {
    services: sections.join("\n\n"),
  });
}

function rowsOf(service: string, { properties = {} }: JsonSchema): ReadonlyMap<string, Row> {
  return new Map(
    Object.entries(properties).map(([name, schema]) => [
      name,
      [code(name), variables(name, schema), type(schema), standard(schema), meaning(name, schema, service)],
    ]),
  );
}

/** The settings that all these services have, each in the form that more than half of them have; others are left out. */
function alike(rows: ReadonlyMap<string, ReadonlyMap<string, Row>>, services: readonly string[]): Map<string, Row> {
  const names = [...(rows.get(services[0] ?? "")?.keys() ?? [])];
  const found = names.flatMap((name) => {
    const had = services.flatMap((service) => [rows.get(service)?.get(name) ?? []].filter((row) => row.length > 0));
    const usual = [...Map.groupBy(had, String).values()].find((same) => same.length * 2 > services.length)?.[0];
    return had.length === services.length && usual !== undefined ? [[name, usual] as const] : [];
  });
  return new Map(found);
}

/** The rows that stand in none of the shared tables in this form. */
const without = (own: ReadonlyMap<string, Row>, ...shared: readonly ReadonlyMap<string, Row>[]): Map<string, Row> =>
  new Map([...own].filter(([name, row]) => !shared.some((rows) => String(rows.get(name)) === String(row))));

const section = (title: string, rows: ReadonlyMap<string, Row>): string =>
  `## ${title}\n\n${table(["setting", "variable", "type", "default", "meaning"], [...rows.values()])}`;

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
