/**
 * Runs the faults in large numbers and writes what they came to into docs: `npm run soak -- [--part 0.2] [NAME...]`. A part
 * runs so much of the numbers; names of test files run those alone. Which broker: see CONTRIBUTING.md. A run replaces the
 * rows of its broker and faults; one in which anything fails writes nothing.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { connect } from "amqplib";
import type { FigureRow } from "./figures.ts";

interface SoakRow extends FigureRow {
  readonly broker: string;
  readonly seed: number;
  readonly command: string;
  readonly date: string;
}

const root = dirname(dirname(import.meta.dirname));
const json = join(root, "docs/faults.json");
const seed = Number(process.env["ROCKBOT_TEST_SEED"] ?? Date.now() % 1_000_000_000);
const { values, positionals: names } = parseArgs({ options: { part: { type: "string", default: "1" } }, allowPositionals: true });
const folder = mkdtempSync(join(tmpdir(), "rockbot-soak-"));
const figures = join(folder, "figures");
writeFileSync(figures, "");

const { status } = spawnSync("vitest", ["run", "--no-file-parallelism", ...(names.length > 0 ? names : ["test/faults"])], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, ROCKBOT_FAULTS_PART: values.part, ROCKBOT_FAULTS_FIGURES: figures, ROCKBOT_TEST_SEED: String(seed) },
});
const lines = readFileSync(figures, "utf8").trim().split("\n").filter(Boolean);
rmSync(folder, { recursive: true });
if (status === 0) await write(lines.map((line) => JSON.parse(line) as FigureRow));
else process.exitCode = 1;

async function write(figureRows: readonly FigureRow[]): Promise<void> {
  const chosen = ["ROCKBOT_TEST_BROKER", "ROCKBOT_TEST_REDIS"].flatMap((name) => (process.env[name] === undefined ? [] : [`${name}=${process.env[name]} `]));
  const command = `${chosen.join("")}npm run soak -- --part ${values.part}${names.map((name) => ` ${name}`).join("")}`;
  const date = new Date().toISOString().slice(0, 10);
  const broker = await brokerVersion();
  const rows = figureRows.map((row): SoakRow => ({ ...row, broker, seed, command, date }));
  const kept = (existsSync(json) ? (JSON.parse(readFileSync(json, "utf8")) as SoakRow[]) : []).filter(
    (old) => !rows.some((row) => row.broker === old.broker && row.fault === old.fault),
  );
  const all = [...kept, ...rows].sort((a, b) => `${a.fault} ${a.broker}`.localeCompare(`${b.fault} ${b.broker}`));
  writeFileSync(json, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(join(root, "docs/faults.md"), document(all));
}

function document(rowsOfAll: readonly SoakRow[]): string {
  const runs = [...new Set(rowsOfAll.map((row) => `| ${row.broker} | \`${row.command}\` | ${row.seed} | ${row.date} |`))];
  const table = rowsOfAll.map(
    ({ fault, broker: by, done, figures: of }) =>
      `| ${fault} | ${by} | ${done} | ${Object.entries(of)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ")} |`,
  );
  return `# What faults come to

Written by \`npm run soak\`; the same as data in [faults.json](faults.json). Each row is a test in \`test/faults\`, which also fails if what must hold does not:
nothing lost, nothing crossed, every call settled by its deadline + 500 ms. "Doubled effects" counts calls whose effect happened more than
once: never right for \`effect\`, allowed for \`read\` and \`repeat\`, which declare themselves read-only and idempotent. \`npm test\` runs the same in small numbers.
Measured on ${cpus().length} cores, Node ${process.versions.node}.

Without Redis a claim is known to its process alone. A call that is delivered again to another process is \`outcome_unknown\` if it was sent more
than two seconds before that process started, and runs again if not: so tools with effects want claims in Redis.

| broker | command | seed | date |
|---|---|---|---|
${runs.join("\n")}

| fault | broker | what was done | figures |
|---|---|---|---|
${table.join("\n")}
`;
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
