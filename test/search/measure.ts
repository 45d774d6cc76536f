/**
 * Measures how well services and tools are found, how fast, and what the tools mode saves: writes
 * docs/measured/search.md.
 */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { type Accuracy, accuracyOf, type Rankers, rankersOf, serviceAnswers, toolAnswers } from "./accuracy.ts";
import { contextSizes, OTHERS, STANDING, tokensOf } from "./context-saved.ts";
import { readSet } from "./read-set.ts";
import { realTools } from "./real-tools.ts";
import { measureSpeed } from "./speed.ts";

const load = loadavg()[0] ?? 0;
const { services, tuning, heldOut } = await readSet();
const toolCount = services.reduce((sum, { tools }) => sum + tools.length, 0);

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const cells = ({ top1, top5 }: Accuracy): string => `${percent(top1)} | ${percent(top5)}`;
const rows: string[] = [];
for (const [name, rankers] of rankersOf(services)) {
  const judged = await accuracyOf(rankers.services, heldOut, serviceAnswers);
  const tools = await accuracyOf(rankers.tools, heldOut, toolAnswers);
  const tuned = await accuracyOf(rankers.services, tuning, serviceAnswers);
  rows.push(`| ${name} | ${cells(judged)} | ${cells(tools)} | ${cells(tuned)} |`);
}
const whole = await accuracyOf(
  (rankersOf(services).get("all") as Rankers).services,
  [...tuning, ...heldOut],
  serviceAnswers,
);
const speeds = [];
for (const count of [200, 2_000]) speeds.push(await measureSpeed(services, [...tuning, ...heldOut], count));
const real = await realTools();
const sizes = contextSizes(real, [50, 100, 250]);

const report = `<!-- Written by \`npm run measure -- search\`. Do not edit. -->
# How well tools are found

Measured by \`npm run measure -- search\` on ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, at a load of ${load.toFixed(1)} from elsewhere.
[How it works](../design/search.md) explains the words.

## Accuracy

The set has ${toolCount} tools of ${services.length} services, and ${tuning.length + heldOut.length} questions. Names and descriptions are close to those of public MCP servers, in other words. One
author wrote tools, questions and synonyms. So the set flatters the synonyms, and other people's questions will be answered less well. The ranker was tuned with the odd questions.
The even ones, ${heldOut.length} of them, judge it here. Top 1 is the share of questions whose first hit is right, top 5 that with a right one among five.

| ranker | service, top 1 | top 5 | tool, top 1 | top 5 | tuning half: service, top 1 | top 5 |
|---|---|---|---|---|---|---|
${rows.join("\n")}

Aims for services are top 5 in 95 % and top 1 in 60 % of the questions. Both halves together have ${percent(whole.top5)} and ${percent(whole.top1)}.

## Time of a question

The same tools under several names, and all questions of the set. Each question brings all entries as new objects.

| tools | median ms | mean ms of processor time | ms after one tool has come |
|---|---|---|---|
${speeds.map(({ tools, p50, cpu, change }) => `| ${tools} | ${p50.toFixed(2)} | ${cpu.toFixed(2)} | ${change.toFixed(2)} |`).join("\n")}

## Context saved

Tokens, as tokenx estimates them, of the definitions that a model gets with each request. The tools are ${real.length} of public MCP servers from npm, again and again under other names:
${Math.round(tokensOf(real) / real.length)} tokens each on average. In tools mode ${STANDING.length} definitions stand for them. The ${OTHERS.length} for guides and working memory are counted on both sides.

| tools | all definitions | tools mode | saved |
|---|---|---|---|
${sizes.map(({ tools, all, few }) => `| ${tools} | ${all} | ${few} | ${percent(1 - few / all)} |`).join("\n")}
`;
await writeFile(join(import.meta.dirname, "../../docs/measured/search.md"), report);
process.stdout.write(report);
