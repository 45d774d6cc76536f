import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Entry, listFaults } from "./list-faults.ts";
import { withFacets } from "./policy-schema.ts";
import { readSchemas, readYaml } from "./read-schemas.ts";
import type { JsonSchema, SchemaDocument } from "./schema-document.ts";
import { schemaFaults } from "./schema-faults.ts";
import { withSettings } from "./with-settings.ts";

export const COMPOSE = "docker-compose.yml";
export const POLICY = "docker/policy/policy.yaml";
export const CHART_POLICY = "helm/rockbot/files/policy.yaml";

/** What the generated code is made of, as far as people write it as YAML. */
export interface CodeSources {
  readonly definitions: SchemaDocument["definitions"];
  /**
   * File -> what `services/NAME/{config,servers,behaviors,endpoints,agents}.schema.yaml` says, with the common settings
   * in it.
   */
  readonly settings: ReadonlyMap<string, JsonSchema>;
  readonly policy: JsonSchema;
  /** All faults of all files; where there are any, the rest is of no use. */
  readonly faults: readonly string[];
}

/** What the generated documents are made of besides. */
export interface Sources extends CodeSources {
  readonly chartValues: JsonSchema;
}

const SETTINGS = "services/settings.yaml";
const CHART = "helm/values.schema.yaml";
export const POLICY_SCHEMA = "packages/policy/policy.schema.yaml";

/** Reads and checks the schemas and the list of services before anything is made of them. */
export async function readCodeSources(root: string, entries: readonly Entry[]): Promise<CodeSources> {
  const faults: string[] = [];
  const contracts = globSync("packages/contracts/schema/{,tools/}*.yaml", { cwd: root }).sort();
  const texts = await Promise.all(
    contracts.map(async (file): Promise<[string, string]> => [file, await readFile(join(root, file), "utf8")]),
  );
  const schemas = readSchemas(new Map(texts));
  faults.push(...schemas.faults);

  const common = (await readObject(root, SETTINGS, faults)) as Record<string, JsonSchema> | undefined;
  for (const [name, schema] of Object.entries(common ?? {}))
    faults.push(...schemaFaults(schema, []).map((fault) => `${SETTINGS}: ${name}: ${fault}`));
  const settings = new Map<string, JsonSchema>();
  for (const file of globSync("services/*/{config,servers,behaviors,endpoints,agents}.schema.yaml", {
    cwd: root,
  }).sort()) {
    const before = faults.length;
    const schema = await readSchema(root, file, faults, referencesTo(common, "../settings.yaml#/"));
    if (common === undefined || faults.length > before) continue;
    try {
      settings.set(file, withSettings(schema, common));
    } catch (error) {
      faults.push(`${file}: ${(error as Error).message}`);
    }
  }
  const policy = withFacets(((await readObject(root, POLICY_SCHEMA, faults)) ?? {}) as JsonSchema);
  faults.push(...faultsOf(policy).map((fault) => `${POLICY_SCHEMA}, with src/facets beside it: ${fault}`));
  faults.push(...listFaults(entries, schemas.tools));
  return { definitions: schemas.definitions, settings, policy, faults };
}

/** Reads and checks what {@link readCodeSources} does, and the deployment's files. */
export async function readSources(root: string, entries: readonly Entry[]): Promise<Sources> {
  const sources = await readCodeSources(root, entries);
  const faults = [...sources.faults];
  const chartValues = await readSchema(root, CHART, faults);
  const rules = (await readObject(root, POLICY, faults)) as
    | { readonly callers?: unknown; readonly operators?: unknown }
    | undefined;
  if (rules !== undefined && !isObject(rules.callers))
    faults.push(`${POLICY}: callers: expected the name of each caller with what it may use`);
  if (rules !== undefined && !Array.isArray(rules.operators))
    faults.push(`${POLICY}: operators: expected a list, [] if there is none`);
  const compose = (await readObject(root, COMPOSE, faults)) as { readonly services?: unknown } | undefined;
  if (compose !== undefined && !isObject(compose.services))
    faults.push(`${COMPOSE}: services: expected the name of each service with what runs it`);
  return { ...sources, chartValues, faults };
}

/** @returns undefined if the file has no object, which is one of the faults then */
async function readObject(root: string, file: string, faults: string[]): Promise<object | undefined> {
  const { value, faults: found } = readYaml(file, await readFile(join(root, file), "utf8"));
  faults.push(...found);
  if (found.length === 0 && !isObject(value))
    faults.push(`${file}: expected an object, got ${JSON.stringify(value ?? null)}`);
  return isObject(value) ? value : undefined;
}

/** @param references what a `$ref` may say besides the file's own definitions */
async function readSchema(
  root: string,
  file: string,
  faults: string[],
  references: readonly string[] = [],
): Promise<JsonSchema> {
  const schema = ((await readObject(root, file, faults)) ?? {}) as JsonSchema;
  faults.push(...faultsOf(schema, references).map((fault) => `${file}: ${fault}`));
  return schema;
}

const faultsOf = (schema: JsonSchema, references: readonly string[] = []): string[] =>
  schemaFaults(schema, [...referencesTo(schema["definitions"], "#/definitions/"), ...references]);

/** The name by which a file of settings is called: `config`, `servers`, `behaviors`, `endpoints` or `agents`. */
export const settingsName = (file: string): string => basename(file, ".schema.yaml");

const referencesTo = (named: unknown, prefix: string): string[] =>
  isObject(named) ? Object.keys(named).map((name) => `${prefix}${name}`) : [];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
