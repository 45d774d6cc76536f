/**
 * Measures a wisp beside the same work by a batch and by a model loop: writes docs/measured/wisps.md. `--quick` for a
 * look.
 */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { type Done, doInEachWay, PAGES } from "./ways.ts";

const isQuick = process.argv.includes("--quick");
const MODEL_MS = 500;
const ROUNDS = isQuick ? 1 : 5;

const load = loadavg()[0] ?? 0;
const rounds: (readonly Done[])[] = [];
await doInEachWay(0); // warm
for (let round = 0; round < ROUNDS; round++) rounds.push(await doInEachWay(MODEL_MS));

const rows = (rounds[0] ?? []).map(({ way, calls, questions, inputTokens, outputTokens }, index) => {
  const times = rounds.map((round) => round[index]?.ms ?? 0).sort((a, b) => a - b);
  const median = Math.round(times[Math.floor(times.length / 2)] ?? 0);
  return `| ${way} | ${calls} | ${questions} | ${inputTokens} | ${outputTokens} | ${median} | ${median - questions * MODEL_MS} |`;
});
const report = `<!-- Written by \`npm run measure -- wisps\`. Do not edit. -->
# A wisp beside a batch and a model loop

Measured by \`npm run measure -- wisps\` on ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, at a load of ${load.toFixed(1)} from elsewhere.

The work is the same in each row: list the pages of a day, read ${PAGES} pages of 4 KB, and file their titles. The tools answer at once. One process has all, over the in-memory bus.
The model plays a script, and each of its answers takes ${MODEL_MS} ms. Tokens are counted by \`tokenx\` in the messages and tools of each question, as a provider without a cache counts them.
Times are the median of ${ROUNDS} rounds. The last column is the time less that of the model's answers.

| way | calls of tools | questions to the model | input tokens | output tokens | time, ms | of it ours, ms |
|---|---|---|---|---|---|---|
${rows.join("\n")}
`;
process.stdout.write(report);
if (!isQuick) await writeFile(join(import.meta.dirname, "../../../docs/measured/wisps.md"), report);
