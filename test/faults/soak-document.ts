import { cpus } from "node:os";
import type { FigureRow } from "./figures.ts";

/** A line of the table, and where it is from. */
export interface SoakRow extends FigureRow {
  readonly broker: string;
  readonly seed: number;
  readonly command: string;
  readonly date: string;
}

/** docs/measured/faults.md. */
export function soakDocument(rowsOfAll: readonly SoakRow[]): string {
  const runs = [
    ...new Set(rowsOfAll.map((row) => `| ${row.broker} | \`${row.command}\` | ${row.seed} | ${row.date} |`)),
  ];
  const table = rowsOfAll.map(
    ({ fault, broker: by, done, figures: of }) =>
      `| ${fault} | ${by} | ${done} | ${Object.entries(of)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ")} |`,
  );
  return `# What faults do to calls

Written by \`npm run soak\`; the same as data in [data/faults.json](data/faults.json). Each row is a test in \`test/faults\`. The test fails if
a call is lost or crossed, or does not settle by its deadline + 500 ms. "Doubled effects" counts calls whose effect happened more than
once: never right for \`effect\`, allowed for \`read\` and \`repeat\`, which declare themselves read-only and idempotent. \`npm test\` runs the same in small numbers.
Some faults have names instead of numbers. \`recovery\` is that of many processes after the broker was killed, and \`random\` is faults one after the other.
\`interleavings\` takes the production code of two services and a caller through every order of their steps over one call.
Measured on ${cpus().length} cores, Node ${process.versions.node}.

Without Redis a claim is known to its process alone. A call that is delivered again to another process ends in \`outcome_unknown\`, whether it ran
or not: so tools with effects want claims in Redis.

| broker | command | seed | date |
|---|---|---|---|
${runs.join("\n")}

| fault | broker | what was done | figures |
|---|---|---|---|
${table.join("\n")}
`;
}
