/**
 * Generates, from `packages/contracts/schema/*.yaml` and `services/NAME/config.schema.yaml` with
 * `services/settings.yaml`: TypeScript types, standalone validators, the catalogue of messages and tools, the AsyncAPI
 * document, each service's config module, or that of another file it reads (`services/NAME/servers.schema.yaml`), and
 * the policy's; the schema of the chart's values, from `helm/values.schema.yaml` too; from the programs that are handed
 * to others, modules with their text; from all of these and from the code, the pages of docs/reference, whose prose is
 * in `generate/pages`. `--check` writes nothing and fails when a committed file differs.
 */
import { globSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { parse } from "yaml";
import { busServices, services } from "../services/index.ts";
import { ALERTS, alertFiles, composeTargets } from "./generate/alert-files.ts";
import { asyncApiDocument, type ContractWords, clausesOf } from "./generate/async-api.ts";
import { chartSchema } from "./generate/chart-schema.ts";
import { clausesModule } from "./generate/clauses-module.ts";
import { type ConfigModuleNames, configModule, pascalCase } from "./generate/config-module.ts";
import { contractsModules } from "./generate/contracts-modules.ts";
import { composeFile, composePolicy } from "./generate/deployment-files.ts";
import { programModule } from "./generate/program-module.ts";
import { CHART_POLICY, COMPOSE, POLICY, POLICY_SCHEMA, readSources, settingsName } from "./generate/read-sources.ts";
import type { JsonSchema } from "./generate/schema-document.ts";
import { chartedServices } from "./generate/services-json.ts";

const root = dirname(import.meta.dirname);
process.chdir(root);

const contracts = "packages/contracts";
const { definitions, settings, chartValues, policy, faults } = await readSources(root, services);
for (const fault of faults) console.error(`Cannot generate: ${fault}`);
if (faults.length > 0) process.exit(1); // before anything is written

const files = new Map<string, string>();
await make(`${contracts}/schema`, async () => {
  for (const [name, text] of Object.entries(await contractsModules(definitions, busServices)))
    files.set(join(contracts, "src/generated", name), text);
});
const configs = new Map<string, JsonSchema>();
for (const [file, schema] of settings) {
  const name = settingsName(file);
  const service = basename(dirname(file));
  if (name === "config") configs.set(service, schema);
  await make(file, () => addModules({ file, name, type: `${pascalCase(service)}${pascalCase(name)}` }, schema));
}
for (const file of globSync("{packages,services}/*/src/**/*.py").sort()) {
  const [room = "", owner = ""] = file.split("/");
  const name = basename(file, ".py");
  files.set(join(room, owner, "src/generated", `${name}.ts`), programModule(file, name, await readFile(file, "utf8")));
}
const charted = chartedServices(services, configs);
const { ServerEntry: mcpServer = {} } = (settings.get("services/mcp-bridge/servers.schema.yaml")?.["definitions"] ??
  {}) as Record<string, JsonSchema>;
files.set("helm/rockbot/values.schema.json", chartSchema(chartValues, charted, configs, mcpServer));
files.set("helm/rockbot/files/services.json", `${JSON.stringify(charted, null, 2)}\n`);
await make(ALERTS, async () => {
  for (const [file, text] of await alertFiles(await readFile(ALERTS, "utf8"))) files.set(file, text);
});
files.set("docker/observability/targets.yml", composeTargets(services.map(({ name }) => name)));
await make(POLICY_SCHEMA, () => addModules({ file: POLICY_SCHEMA, name: "policy", type: "PolicyDocument" }, policy));

const isCheck = process.argv.includes("--check");
const stale: string[] = [];
let count = 0;
await settle(files);
// The code that makes these is generated itself: it is loaded only now. Where it is stale, so may they be.
if (!isCheck || stale.length === 0) {
  const [{ referencePages }, { contractValues, withValues }, { podRulesFiles }] = await Promise.all([
    import("./generate/reference/reference-pages.ts"),
    import("./generate/contract-values.ts"),
    import("./generate/pod-rules-files.ts"),
  ]);
  await settle(podRulesFiles(configs.get("scripts-manager") ?? {}));
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
  const secrets = new Map(chartedServices(services, configs).map((charted) => [charted.name, charted.secrets]));
  await settle(
    new Map([
      [COMPOSE, composeFile(await readFile(COMPOSE, "utf8"), services, secrets)],
      [POLICY, composePolicy(rules, busServices)],
      [CHART_POLICY, composePolicy(await readFile(CHART_POLICY, "utf8"), busServices)],
    ]),
  );
}
if (isCheck && stale.length > 0) {
  console.error(`Generated files are stale: ${stale.join(", ")}. Run: npm run generate`);
  process.exit(1);
}
console.error(isCheck ? `${count} generated files are fresh` : `${count} files generated, ${stale.length} changed`);

/**
 * Runs one step; a fault of the schema that the checks before have not found ends it with the schema's file in words.
 */
async function make(file: string, step: () => Promise<void>): Promise<void> {
  await step().catch((error: Error) => {
    console.error(`Cannot generate: ${file}: ${error.message}`);
    process.exit(1);
  });
}

async function addModules(names: ConfigModuleNames, schema: JsonSchema): Promise<void> {
  const modules = await configModule(names, schema);
  for (const [name, text] of Object.entries(modules)) files.set(join(dirname(names.file), "src/generated", name), text);
}

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
