/**
 * Shows what one agent that has gone bad costs the others: `npm run measure -- flood [--seconds 600] [--rate 20] [FLOOD...]`.
 * Prints a table, with all floods also into docs/measured/floods.md, and ends in an error if a figure is out of its
 * bounds. A machine that does much else makes the times worse.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { brokenBounds, tableHead, tableRow } from "./bounds.ts";
import { type FloodName, floods } from "./floods.ts";
import { report } from "./report.ts";
import { runFloods } from "./run-floods.ts";

const { values, positionals } = parseArgs({
  options: { seconds: { type: "string", default: "600" }, rate: { type: "string", default: "20" } },
  allowPositionals: true,
});
const names = positionals.length > 0 ? positionals : Object.keys(floods);
for (const name of names)
  if (!(name in floods)) throw new RangeError(`There is no flood "${name}", only: ${Object.keys(floods).join("; ")}`);
process.stdout.write(`${tableHead}\n`);
const rows = await runFloods({
  floods: names as FloodName[],
  seconds: Number(values.seconds),
  callsPerSecond: Number(values.rate),
  onRow: (row) => process.stdout.write(`${tableRow(row)}\n`),
});
const broken = rows.flatMap((row) => brokenBounds(row));
for (const words of broken) process.stdout.write(`${words}\n`);
if (positionals.length === 0) {
  const page = report({
    seconds: Number(values.seconds),
    callsPerSecond: Number(values.rate),
    lines: rows.map(tableRow),
    broken,
  });
  await writeFile(join(import.meta.dirname, "../../docs/measured/floods.md"), page);
}
process.exit(broken.length === 0 ? 0 : 1);
