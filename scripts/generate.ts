/**
 * Generates, from `packages/contracts/schema/*.yaml` and `services/NAME/config.schema.yaml` with `services/settings.yaml`: TypeScript types, standalone
 * validators, the catalogue of messages and tools, the AsyncAPI document, each service's config module, or that of
 * another file it reads (`services/NAME/servers.schema.yaml`), and the policy's; the schema of the chart's values, from `helm/values.schema.yaml` too; from the programs that are handed to others, modules with their text;
 * from all of these and from the code, the pages of docs/reference, whose prose is in `generate/pages`.
 * `--check` writes nothing and fails when a committed file differs.
 */
import { globSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { parse } from "yaml";
import { asyncApiDocument, type ContractWords, clausesOf } from "./generate/async-api.ts";
import { chartSchema } from "./generate/chart-schema.ts";
import { clausesModule } from "./generate/clauses-module.ts";
import { configModule, pascalCase } from "./generate/config-module.ts";
import { contractsModules } from "./generate/contracts-modules.ts";
import { programModule } from "./generate/program-module.ts";
import type { JsonSchema, SchemaDocument } from "./generate/schema-document.ts";
import { withSettings } from "./generate/with-settings.ts";

const root = dirname(import.meta.dirname);
process.chdir(root);

const contracts = "packages/contracts";
const definitions: SchemaDocument["definitions"] = {};
for (const file of globSync([`${contracts}/schema/*.yaml`, `${contracts}/schema/tools/*.yaml`]).sort()) {
  const document = parse(await readFile(file, "utf8")) as SchemaDocument;
  for (const [name, schema] of Object.entries(document.definitions)) {
    if (name in definitions) throw new Error(`Cannot generate: ${file} defines ${name} a second time`);
    definitions[name] = schema;
  }
}

const files = new Map<string, string>();
for (const [name, text] of Object.entries(await contractsModules(definitions))) {
  files.set(join(contracts, "src/generated", name), text);
}
const settings = parse(await readFile("services/settings.yaml", "utf8")) as Record<string, object>;
const configs = new Map<string, JsonSchema>();
for (const file of globSync("services/*/{config,servers}.schema.yaml").sort()) {
  const name = basename(file, ".schema.yaml");
  const type = `${pascalCase(basename(dirname(file)))}${pascalCase(name)}`;
  const schema = withSettings(parse(await readFile(file, "utf8")), settings);
  if (name === "config") configs.set(basename(dirname(file)), schema);
  const modules = await configModule({ file, name, type }, schema);
  for (const [name, text] of Object.entries(modules)) files.set(join(dirname(file), "src/generated", name), text);
}
for (const file of globSync("{packages,services}/*/src/**/*.py").sort()) {
  const [room = "", owner = ""] = file.split("/");
  const name = basename(file, ".py");
  files.set(join(room, owner, "src/generated", `${name}.ts`), programModule(file, name, await readFile(file, "utf8")));
}
const valuesSchema = parse(await readFile("helm/values.schema.yaml", "utf8")) as JsonSchema;
files.set("helm/rockbot/values.schema.json", chartSchema(valuesSchema, configs));
const policySchema = "packages/policy/policy.schema.yaml";
const policyModules = await configModule({ file: policySchema, name: "policy", type: "PolicyDocument" }, parse(await readFile(policySchema, "utf8")));
for (const [name, text] of Object.entries(policyModules)) files.set(join(dirname(policySchema), "src/generated", name), text);

const [COMPOSE, POLICY] = ["docker-compose.yml", "docker/policy.yaml"];
const isCheck = process.argv.includes("--check");
const stale: string[] = [];
let count = 0;
await settle(files);
// The code that makes these is generated itself: it is loaded only now. Where it is stale, so may they be.
if (!isCheck || stale.length === 0) {
  const [{ referencePages }, { contractValues, withValues }, { busServices, services }, { composeFile, composePolicy }] = await Promise.all([
    import("./generate/reference/reference-pages.ts"),
    import("./generate/contract-values.ts"),
    import("@rockbot/services"),
    import("./generate/deployment-files.ts"),
  ]);
  const contractFile = `${contracts}/schema/service/contract.yaml`;
  const words = parse(await readFile(contractFile, "utf8")) as ContractWords;
  await settle(
    new Map([
      [join(contracts, "asyncapi.yaml"), asyncApiDocument(definitions, { words, values: contractValues, withValues })],
      ["packages/cli/src/conformance/generated/clauses.ts", clausesModule(contractFile, clausesOf(words, withValues))],
    ]),
  );
  await settle(await referencePages({ definitions, configs }));
  const rules = await readFile(POLICY, "utf8");
  const { callers, operators } = parse(rules) as { readonly callers: object; readonly operators: readonly { readonly name: string }[] };
  const others = [...Object.keys(callers), ...operators.map(({ name }) => name)].filter((user) => !services.some(({ name }) => name === user));
  await settle(
    new Map([
      [COMPOSE, composeFile(await readFile(COMPOSE, "utf8"), services, others)],
      [POLICY, composePolicy(rules, busServices)],
    ]),
  );
}
if (isCheck && stale.length > 0) {
  console.error(`Generated files are stale: ${stale.join(", ")}. Run: npm run generate`);
  process.exit(1);
}
console.error(isCheck ? `${count} generated files are fresh` : `${count} files generated, ${stale.length} changed`);

/** Writes what differs from the file that there is; with `--check` only notes it. */
async function settle(texts: ReadonlyMap<string, string>): Promise<void> {
  for (const [file, text] of texts) {
    count++;
    const current = await readFile(file, "utf8").catch(() => undefined);
    if (current === text) continue;
    stale.push(file);
    if (isCheck) continue;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}
