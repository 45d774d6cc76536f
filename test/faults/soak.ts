/**
 * Runs the faults in large numbers and writes what they came to into docs: `npm run measure -- soak [--part 0.2] [NAME...]`. A
 * part runs so much of the numbers; names of test files run those alone. Which broker: see CONTRIBUTING.md. A run
 * replaces the rows of its broker and faults. What a test file has recorded counts only if nothing in it failed; else
 * the run ends in an error.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { connect } from "amqplib";
import type { FigureRow, RecordedRow } from "./figures.ts";
import { figuresText, readSoakDocument, type SoakRow, soakDocument } from "./soak-document.ts";

const root = dirname(dirname(import.meta.dirname));
/** What is done a few times among the tests, and in large numbers here. */
const LARGE = [
  "test/faults",
  "test/agent/agent-killed",
  "test/scripts/hostile",
  "test/broker/rights",
  "test/rest/real-documents",
];
const page = join(root, "docs/measured/faults.md");
const seed = Number(process.env["ROCKBOT_TEST_SEED"] ?? Date.now() % 1_000_000_000);
const { values, positionals: names } = parseArgs({
  options: { part: { type: "string", default: "1" } },
  allowPositionals: true,
});
const folder = mkdtempSync(join(tmpdir(), "rockbot-soak-"));
const figures = join(folder, "figures");
const report = join(folder, "report.json");
writeFileSync(figures, "");

const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
spawnSync("vitest", ["run", "--no-file-parallelism", ...reporters, ...(names.length > 0 ? names : LARGE)], {
  cwd: root,
  stdio: "inherit",
  env: {
    ...process.env,
    ROCKBOT_FAULTS_PART: values.part,
    ROCKBOT_FAULTS_FIGURES: figures,
    ROCKBOT_TEST_SEED: String(seed),
  },
});
const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
  readonly testResults: readonly { readonly name: string; readonly status: string }[];
};
const failed = new Set(testResults.filter(({ status }) => status !== "passed").map(({ name }) => name));
const recorded = readFileSync(figures, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as RecordedRow);
rmSync(folder, { recursive: true });
await write(recorded.filter(({ file }) => !failed.has(file)).map(({ file: _, ...row }) => row));
for (const file of failed) console.error(`${relative(root, file)} failed: its rows are left as they were`);
if (failed.size > 0 || testResults.length === 0) process.exitCode = 1;

async function write(figureRows: readonly FigureRow[]): Promise<void> {
  const chosen = ["ROCKBOT_TEST_BROKER", "ROCKBOT_TEST_REDIS"].flatMap((name) =>
    process.env[name] === undefined ? [] : [`${name}=${process.env[name]} `],
  );
  const command = `${chosen.join("")}npm run measure -- soak --part ${values.part}${names.map((name) => ` ${name}`).join("")}`;
  const date = new Date().toISOString().slice(0, 10);
  const broker = await brokerVersion();
  const rows = figureRows.map(
    (row): SoakRow => ({ ...row, figures: figuresText(row.figures), broker, seed, command, date }),
  );
  const kept = readSoakDocument(readFileSync(page, "utf8")).filter(
    (old) => !rows.some((row) => row.broker === old.broker && row.fault === old.fault),
  );
  const all = [...kept, ...rows].sort((a, b) => `${a.fault} ${a.broker}`.localeCompare(`${b.fault} ${b.broker}`));
  writeFileSync(page, soakDocument(all));
}

/** As a broker of the kind that was used says of itself: the soak has ended its own. */
async function brokerVersion(): Promise<string> {
  const { offerSharedBroker, sharedAmqpUrl } = await import("@rockbot/testing");
  await using _ = await offerSharedBroker();
  const connection = await connect(await sharedAmqpUrl());
  const { version } = connection.connection.serverProperties as unknown as { readonly version: string };
  await connection.close();
  return `RabbitMQ ${version}`;
}
