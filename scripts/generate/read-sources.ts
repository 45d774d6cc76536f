import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Entry, listFaults } from "./list-faults.ts";
import { readSchemas, readYaml } from "./read-schemas.ts";
import type { JsonSchema, SchemaDocument } from "./schema-document.ts";
import { schemaFaults } from "./schema-faults.ts";
import { withSettings } from "./with-settings.ts";

export const COMPOSE = "docker-compose.yml";
export const POLICY = "docker/policy/policy.yaml";
export const CHART_POLICY = "helm/rockbot/files/policy.yaml";

/** What `npm run generate` makes files of, as far as people write it as YAML. */
export interface Sources {
  readonly definitions: SchemaDocument["definitions"];
  /**
   * File -> what `services/NAME/{config,servers,behaviors,endpoints,agents}.schema.yaml` says, with the common settings
   * in it.
   */
  readonly settings: ReadonlyMap<string, JsonSchema>;
  readonly chartValues: JsonSchema;
  readonly policy: JsonSchema;
}

const SETTINGS = "services/settings.yaml";
const CHART = "helm/values.schema.yaml";
export const POLICY_SCHEMA = "packages/policy/policy.schema.yaml";

/**
 * Reads and checks the schemas, the list of services and the deployment's files before anything is made of them.
 * @returns with all faults of all files; where there are any, the rest is of no use
 */
export async function readSources(
  root: string,
  entries: readonly Entry[],
): Promise<Sources & { readonly faults: readonly string[] }> {
  const faults: string[] = [];
  const read = async (file: string): Promise<unknown> => {
    const { value, faults: found } = readYaml(file, await readFile(join(root, file), "utf8"));
    faults.push(...found);
    if (found.length === 0 && !isObject(value))
      faults.push(`${file}: expected an object, got ${JSON.stringify(value ?? null)}`);
    return isObject(value) ? value : undefined;
  };
  const contracts = globSync("packages/contracts/schema/{,tools/}*.yaml", { cwd: root }).sort();
  const texts = await Promise.all(
    contracts.map(async (file): Promise<[string, string]> => [file, await readFile(join(root, file), "utf8")]),
  );
  const schemas = readSchemas(new Map(texts));
  faults.push(...schemas.faults);

  const common = (await read(SETTINGS)) as Record<string, JsonSchema> | undefined;
  for (const [name, schema] of Object.entries(common ?? {}))
    faults.push(...schemaFaults(schema, []).map((fault) => `${SETTINGS}: ${name}: ${fault}`));
  const checked = async (file: string): Promise<JsonSchema> => {
    const schema = ((await read(file)) ?? {}) as JsonSchema;
    const found = schemaFaults(schema, [
      ...referencesTo(schema["definitions"], "#/definitions/"),
      ...referencesTo(common, "../settings.yaml#/"),
    ]);
    faults.push(...found.map((fault) => `${file}: ${fault}`));
    return schema;
  };
  const settings = new Map<string, JsonSchema>();
  for (const file of globSync("services/*/{config,servers,behaviors,endpoints,agents}.schema.yaml", {
    cwd: root,
  }).sort()) {
    const before = faults.length;
    const schema = await checked(file);
    if (common === undefined || faults.length > before) continue;
    try {
      settings.set(file, withSettings(schema, common));
    } catch (error) {
      faults.push(`${file}: ${(error as Error).message}`);
    }
  }
  const [chartValues, policy] = [await checked(CHART), await checked(POLICY_SCHEMA)];
  const rules = (await read(POLICY)) as { readonly callers?: unknown; readonly operators?: unknown } | undefined;
  if (rules !== undefined && !isObject(rules.callers))
    faults.push(`${POLICY}: callers: expected the name of each caller with what it may use`);
  if (rules !== undefined && !Array.isArray(rules.operators))
    faults.push(`${POLICY}: operators: expected a list, [] if there is none`);
  const compose = (await read(COMPOSE)) as { readonly services?: unknown } | undefined;
  if (compose !== undefined && !isObject(compose.services))
    faults.push(`${COMPOSE}: services: expected the name of each service with what runs it`);

  faults.push(...listFaults(entries, schemas.tools));
  return { definitions: schemas.definitions, settings, chartValues, policy, faults };
}

/** The name by which a file of settings is called: `config`, `servers`, `behaviors`, `endpoints` or `agents`. */
export const settingsName = (file: string): string => basename(file, ".schema.yaml");

const referencesTo = (named: unknown, prefix: string): string[] =>
  isObject(named) ? Object.keys(named).map((name) => `${prefix}${name}`) : [];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
