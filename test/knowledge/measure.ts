/**
 * Measures searches in a knowledge base of 100 000 items, in SQLite and in PostgreSQL: writes
 * docs/measured/knowledge.md.
 */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { createMemoryBus } from "@rockbot/bus";
import { configSchema, openStore, startKnowledgeTools } from "@rockbot/knowledge-tools";
import { connectPostgresStore } from "@rockbot/knowledge-tools/postgres";
import { loadConfig } from "@rockbot/process/config";
import { startOwnPostgres, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { commonWord, kinds, makeItems, randomFrom, tellingWord } from "./make-items.ts";

const ITEMS = 100_000;
const WARM_UP = 200;
const SEARCHES = 2_000;

const load = loadavg()[0] ?? 0;
using folder = temporaryFolder();
await using postgres = await startOwnPostgres();
const databases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SQLite: { dataDirectory: folder.path },
  PostgreSQL: { databaseUrl: await postgres.ownDatabase() },
};

/** What is asked for. Words are drawn as texts have them. */
const questions: Readonly<Record<string, (random: () => number) => object>> = {
  "two to four words": (random) => ({ query: words(random, 2 + Math.floor(random() * 3)) }),
  "the same, of two kinds and one category": (random) => ({
    query: words(random, 2 + Math.floor(random() * 3)),
    kinds: [kinds[Math.floor(random() * kinds.length)], kinds[0]],
    categories: [`category ${Math.floor(random() * 40)}`],
  }),
  "two words, by one author": (random) => ({
    query: words(random, 2),
    authors: [`author-${Math.floor(random() * 500)}`],
  }),
  "the most common word": () => ({ query: commonWord }),
};
const words = (random: () => number, count: number): string =>
  Array.from({ length: count }, () => tellingWord(random)).join(" ");

const rows: string[] = [];
const imports: string[] = [];
for (const [name, settings] of Object.entries(databases)) {
  const config = loadConfig(configSchema, { env: {}, overrides: { busyTimeoutMs: 600_000, ...settings } });
  const startAt = performance.now();
  {
    await using store = await openStore(config, connectPostgresStore);
    await store.save(makeItems(ITEMS));
  }
  const seconds = (performance.now() - startAt) / 1000;
  imports.push(`| ${name} | ${seconds.toFixed(0)} | ${Math.round(ITEMS / seconds)} |`);
  process.stderr.write(`${name}: ${ITEMS} items in ${seconds.toFixed(0)} s\n`);
  await using bus = createMemoryBus();
  await using _service = await startKnowledgeTools(bus, config, {
    service: "knowledge-tools",
    topic: "tool.invoke.knowledge",
    connect: connectPostgresStore,
  });
  await using caller = await createToolCaller(bus, { agent: "caller-1" });
  await caller.discovered();
  const search = async (input: object): Promise<number> => {
    const at = performance.now();
    await caller.call("knowledge_search", input, { timeoutMs: 60_000 });
    return performance.now() - at;
  };
  for (const [what, ask] of Object.entries(questions)) {
    const random = randomFrom(7);
    for (let i = 0; i < WARM_UP; i++) await search(ask(random));
    const times: number[] = [];
    for (let i = 0; i < SEARCHES; i++) times.push(await search(ask(random)));
    times.sort((one, other) => one - other);
    const at = (part: number): string =>
      (times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0).toFixed(1);
    process.stderr.write(`${name}, ${what}: p50 ${at(0.5)}, p95 ${at(0.95)} ms\n`);
    rows.push(`| ${what} | ${name} | ${at(0.5)} | ${at(0.95)} | ${at(0.99)} |`);
  }
}

const report = `<!-- Written by \`npm run measure -- knowledge\`. Do not edit. -->
# What a search of the knowledge base costs

Measured by \`npm run measure -- knowledge\` on ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, at a load of ${load.toFixed(1)} from elsewhere.

The knowledge base has ${ITEMS} items of 60 to 300 words, of a vocabulary of 60000 words by Mandelbrot's law. PostgreSQL runs on the same machine, with the settings that its package has.

## One search

Each figure is the elapsed time of a call of \`knowledge_search\` over the in-memory bus, one after another, of ${SEARCHES} calls. A search gives ten items with their snippets.

| search | database | p50, ms | p95, ms | p99, ms |
|---|---|---|---|---|
${rows.sort().join("\n")}

## One import

| database | s | items a second |
|---|---|---|
${imports.join("\n")}
`;
await writeFile(join(import.meta.dirname, "../../docs/measured/knowledge.md"), report);
