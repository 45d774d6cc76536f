/** Measures the chunker, the search in a text, and the stores of working memory: writes docs/measured/memory.md. */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { chunkContent, createWorkingMemory, type OwnedMemory } from "@rockbot/memory";
import { connectRedisWorkingMemory } from "@rockbot/memory/redis";
import { startOwnRedis } from "@rockbot/testing";
import { hostileTexts } from "./hostile-texts.ts";

const LENGTH = 10_000_000;
const ROUNDS = 5;
const MAX_LENGTH = 64_000;

const sentence = "The opening hours of the shop are from nine to five, but not on holidays. ";
const section = (i: number): string =>
  `${"#".repeat(1 + (i % 3))} Section ${i}\n\n${`${sentence.repeat(4)}\n\n`.repeat(6)}\`\`\`js\nconst a = ${i};\n\`\`\`\n\n| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(10)}\n`;
const item = (id: number) => ({
  id,
  name: `item ${id}`,
  tags: ["a", "b"],
  text: sentence,
  price: { amount: id / 7, currency: "EUR" },
});

const texts: Readonly<Record<string, string>> = {
  "markdown with headings": Array.from({ length: Math.ceil(LENGTH / section(10).length) }, (_, i) => section(i)).join(
    "",
  ),
  "markdown without headings": `${sentence.repeat(4)}\n\n`.repeat(LENGTH / (sentence.length * 4 + 2)),
  "JSON, an array of objects": JSON.stringify({
    data: { items: Array.from({ length: LENGTH / JSON.stringify(item(10_000)).length }, (_, i) => item(i)) },
  }),
  "CSV, five columns": `id,name,text,price,currency\n${Array.from({ length: LENGTH / 105 }, (_, i) => `${i},item ${i},"${sentence}",${i / 4},EUR\n`).join("")}`,
};

const load = loadavg()[0] ?? 0;
const rows = [...Object.entries(texts), ...Object.entries(hostileTexts(LENGTH))].map(([name, text]) => {
  const rounds = Array.from({ length: ROUNDS }, () => measured(() => chunkContent(text, { maxLength: MAX_LENGTH })));
  const chunks = rounds[0]?.value.length ?? 0;
  const ms = median(rounds.map((round) => round.ms));
  process.stderr.write(`${name}: ${ms.toFixed(0)} ms\n`);
  return `| ${name} | ${chunks} | ${ms.toFixed(0)} | ${(text.length / 1e6 / (ms / 1000)).toFixed(0)} |`;
});

await using redis = await startOwnRedis();
await using inProcess = createWorkingMemory();
await using inRedis = await connectRedisWorkingMemory(redis.url);
const stores: Readonly<Record<string, OwnedMemory>> = {
  "one process": inProcess.of("bench"),
  Redis: inRedis.of("bench"),
};
const large = texts["markdown with headings"] as string;
const small = "x".repeat(1_000);
const chunks = chunkContent(large, { maxLength: MAX_LENGTH }).map(({ text }, i) => ({
  key: `session/bench/chunk${i}`,
  value: text,
}));
const storeRows: string[] = [];
for (const [name, memory] of Object.entries(stores)) {
  const operations: Readonly<Record<string, () => Promise<unknown>>> = {
    "keep 1 000 characters": () => memory.set("session/bench/small", small),
    "read 1 000 characters": () => memory.get("session/bench/small"),
    "keep a text of 10 MB": () => memory.set("session/bench/large", large),
    "keep 10 MB in chunks": () => memory.setAll(chunks, { isChunk: true }),
    "read 64 000 characters in the middle of 10 MB": () =>
      memory.read("session/bench/large", { offset: LENGTH / 2, length: 64_000 }),
    "find all places of a word in 10 MB": () => memory.find("session/bench/large", { text: "HOLIDAYS" }),
  };
  for (const [what, operation] of Object.entries(operations)) {
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS * 3; round++) rounds.push((await measuredAsync(operation)).ms);
    storeRows.push(`| ${name} | ${what} | ${median(rounds).toFixed(2)} |`);
  }
}

const report = `<!-- Written by \`npm run measure -- memory\`. Do not edit. -->
# What working memory and the chunker cost

Measured by \`npm run measure -- memory\` on ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, at a load of ${load.toFixed(1)} from elsewhere.

## Chunks of 10 million characters

The chunker splits each text into chunks of at most ${MAX_LENGTH} characters. The figures are processor time, the median of ${ROUNDS} rounds.
A text below the first four is one that splitters are slow on.

| text | chunks | ms | MB/s |
|---|---|---|---|
${rows.join("\n")}

## One operation of working memory

The figures are elapsed time, the median of ${ROUNDS * 3} rounds, one after another. Redis runs on the same machine.

| store | operation | ms |
|---|---|---|
${storeRows.join("\n")}
`;
await writeFile(join(import.meta.dirname, "../../docs/measured/memory.md"), report);
process.stdout.write(report);

/** In processor time, which other programs of the machine do not change much. */
function measured<Value>(work: () => Value): { readonly value: Value; readonly ms: number } {
  const before = process.cpuUsage();
  const value = work();
  const { user, system } = process.cpuUsage(before);
  return { value, ms: (user + system) / 1_000 };
}

async function measuredAsync(work: () => Promise<unknown>): Promise<{ readonly ms: number }> {
  const start = performance.now();
  await work();
  return { ms: performance.now() - start };
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
}
