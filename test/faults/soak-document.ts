import { cpus } from "node:os";
import type { FigureRow } from "./figures.ts";

/** A line of the table, and where it is from. */
export interface SoakRow extends Omit<FigureRow, "figures"> {
  /** As the table has them. */
  readonly figures: string;
  readonly broker: string;
  readonly seed: number;
  readonly command: string;
  readonly date: string;
}

export const figuresText = (figures: FigureRow["figures"]): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

/** The rows of docs/measured/faults.md, which is where they are kept. */
export function readSoakDocument(document: string): SoakRow[] {
  const lines = document.split("\n").map((line) => line.replace(/^\| | \|$/g, "").split(" | "));
  const runs = new Map(
    lines.flatMap(([run = "", broker = "", command = "", seed, date = ""]) =>
      /^\d+$/.test(run) ? [[run, { broker, command: command.slice(1, -1), seed: Number(seed), date }]] : [],
    ),
  );
  return lines.flatMap(([fault = "", run = "", done = "", figures = ""]) => {
    const from = runs.get(run);
    return from === undefined ? [] : [{ fault, done, figures, ...from }];
  });
}

/** docs/measured/faults.md. */
export function soakDocument(rowsOfAll: readonly SoakRow[]): string {
  const runOf = (row: SoakRow): string => `${row.broker} | \`${row.command}\` | ${row.seed} | ${row.date}`;
  const runs = [...new Set(rowsOfAll.map(runOf))];
  const table = rowsOfAll.map(
    (row) => `| ${row.fault} | ${runs.indexOf(runOf(row)) + 1} | ${row.done} | ${row.figures} |`,
  );
  return `# What faults do to calls

Written by \`npm run measure -- soak\`, which keeps the rows of other brokers and faults. Each row is a test in \`test/faults\`. The test fails if
a call is lost or crossed, or does not settle by its deadline + 500 ms. "Doubled effects" counts calls whose effect happened more than
once: never right for \`effect\`, allowed for \`read\` and \`repeat\`, which declare themselves read-only and idempotent. \`npm test\` runs the same in small numbers.
Some faults have names instead of numbers. \`recovery\` is that of many processes after the broker was killed, and \`random\` is faults one after the other.
\`interleavings\` takes the production code of two services and a caller through every order of their steps over one call.
Measured on ${cpus().length} cores, Node ${process.versions.node}.

Without Redis a claim is known to its process alone. A call that is delivered again to another process ends in \`outcome_unknown\`, whether it ran
or not: so tools with effects want claims in Redis.

| run | broker | command | seed | date |
|---|---|---|---|---|
${runs.map((run, index) => `| ${index + 1} | ${run} |`).join("\n")}

| fault | run | what was done | figures |
|---|---|---|---|
${table.join("\n")}
`;
}
