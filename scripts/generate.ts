/**
 * The second stage of generating: writes the documents and the parts of deployments that git holds. From the schemas, the
 * list of services and the code come the AsyncAPI document, the pages of docs/reference, whose prose is in
 * `generate/pages`, the chart's `values.schema.json` and `files`, and what compose and the policies say of each service.
 * It imports packages, for which `generate-code.ts`, the first stage, has to have run. `--check` writes nothing and
 * fails when a file differs.
 */
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { withValues } from "@rockbot/conformance/contract-values";
import { parse } from "yaml";
import { busServices, services } from "../services/index.ts";
import { ALERTS, alertFiles, composeTargets } from "./generate/alert-files.ts";
import { asyncApiDocument, type ContractWords } from "./generate/async-api.ts";
import { chartSchema } from "./generate/chart-schema.ts";
import { contractValues } from "./generate/contract-values.ts";
import { composeFile, composePolicy } from "./generate/deployment-files.ts";
import { podRulesFiles } from "./generate/pod-rules-files.ts";
import { CHART_POLICY, COMPOSE, POLICY, readSources, settingsName } from "./generate/read-sources.ts";
import { referencePages } from "./generate/reference/reference-pages.ts";
import type { JsonSchema } from "./generate/schema-document.ts";
import { chartedServices } from "./generate/services-json.ts";
import { writeIfChanged } from "./generate/write-file.ts";

const root = dirname(import.meta.dirname);
process.chdir(root);

const { definitions, settings, chartValues, faults } = await readSources(root, services);
for (const fault of faults) console.error(`Cannot generate: ${fault}`);
if (faults.length > 0) process.exit(1); // before anything is written

const configs = new Map(
  [...settings].flatMap(([file, schema]) =>
    settingsName(file) === "config" ? [[basename(dirname(file)), schema] as const] : [],
  ),
);
const { ServerEntry: mcpServer = {} } = (settings.get("services/mcp-bridge/servers.schema.yaml")?.["definitions"] ??
  {}) as Record<string, JsonSchema>;
const charted = chartedServices(services, configs);
const secrets = new Map(charted.map(({ name, secrets }) => [name, secrets]));
const words = parse(await readFile("packages/contracts/schema/service/contract.yaml", "utf8")) as ContractWords;

const isCheck = process.argv.includes("--check");
const stale: string[] = [];
let count = 0;
// What the pages of the reference are made of comes before them.
await settle([
  ["helm/rockbot/values.schema.json", chartSchema(chartValues, charted, configs, mcpServer)],
  ["helm/rockbot/files/services.json", `${JSON.stringify(charted, null, 2)}\n`],
  ["docker/observability/targets.yml", composeTargets(services.map(({ name }) => name))],
  ...podRulesFiles(configs.get("scripts-manager") ?? {}),
  ["packages/contracts/asyncapi.yaml", asyncApiDocument(definitions, { words, values: contractValues, withValues })],
  [COMPOSE, composeFile(await readFile(COMPOSE, "utf8"), services, secrets)],
  [POLICY, composePolicy(await readFile(POLICY, "utf8"), busServices)],
  [CHART_POLICY, composePolicy(await readFile(CHART_POLICY, "utf8"), busServices)],
]);
await settle(await alertFiles(await readFile(ALERTS, "utf8")).catch(cannotMake(ALERTS)));
await settle(await referencePages({ definitions, configs }));
if (isCheck && stale.length > 0) {
  console.error(`Generated files are stale: ${stale.join(", ")}. Run: npm run generate`);
  process.exit(1);
}
console.error(isCheck ? `${count} generated files are fresh` : `${count} files generated, ${stale.length} changed`);

/** Says which file a fault is of that nothing has found before. */
function cannotMake(file: string): (error: Error) => never {
  return ({ message }) => {
    console.error(`Cannot generate: ${file}: ${message}`);
    process.exit(1);
  };
}

/** Writes what differs from the file that there is; with `--check` only notes it. */
async function settle(texts: Iterable<readonly [file: string, text: string]>): Promise<void> {
  for (const [file, text] of texts) {
    count++;
    const isStale = isCheck
      ? (await readFile(file, "utf8").catch(() => undefined)) !== text
      : await writeIfChanged(file, text);
    if (isStale) stale.push(file);
  }
}
