/** Measures what families of agents cost beside their model: writes docs/measured/families.md. `--quick` for a look. */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createMemoryBus } from "@rockbot/bus";
import { newId } from "@rockbot/contracts";
import {
  type AgentDefinition,
  createAgent,
  createMemoryTurnStore,
  type Model,
  type ModelAnswer,
  serviceSearch,
  type TurnRequest,
} from "rockbot/agent";

const isQuick = process.argv.includes("--quick");
const DEFINITIONS = 1_000;
const CHILDREN = 5;
const SESSIONS = isQuick ? 20 : 200;
const ROUNDS = isQuick ? 2 : 10;
const MODEL_MS = 500;
/** Families that begin in a second, in the row at a fixed rate: what two cores do with some room. */
const PER_SECOND = 20;

const load = loadavg()[0] ?? 0;
const definitions = Array.from({ length: DEFINITIONS }, (_, index): AgentDefinition => {
  const name = `clerk-${index}`;
  return {
    name,
    description: `Knows all of drawer ${index}.`,
    playbook: "Look, and tell.",
    tools: ["*"],
    maker: "agent",
    isUntrusted: false,
    hash: name,
  };
});
let offered = 0;
const usage = { inputTokens: 10, outputTokens: 5 };

/** A root calls five agents at once and then answers; each of them reports at once. Each answer takes the same time. */
const model: Model = {
  id: "constant",
  behavior: {
    chunkingThreshold: 64_000,
    contextTokens: 100_000,
    maxIterations: 12,
    usesTextToolCalls: false,
    nudgesOnProse: false,
  },
  async answer({ messages, tools = [] }): Promise<ModelAnswer> {
    await setTimeout(MODEL_MS);
    const isRoot = messages[0]?.content.startsWith("You are an assistant") === true;
    if (isRoot) offered = tools.length;
    if (isRoot && messages.at(-1)?.role === "tool") return { text: "Done.", toolCalls: [], finish: "stop", usage };
    const calls: readonly (readonly [name: string, args: object])[] = isRoot
      ? definitions.slice(0, CHILDREN).map(({ name }) => [`agent__${name}`, { prompt: "Look." }])
      : [["agent__final_report", { status: "success", format: "text", content: "It is there." }]];
    return {
      text: "",
      toolCalls: calls.map(([name, args], index) => ({ id: `c${index}`, name, arguments: JSON.stringify(args) })),
      finish: "tool_calls",
      usage,
    };
  },
};
/** A root's two answers, and those of its children, which are side by side. */
const WAITED_MS = 3 * MODEL_MS;

await using bus = createMemoryBus();
const reader = { visibleTo: async () => definitions, ofSession: async () => undefined };
await using store = createMemoryTurnStore({ maxSessions: 1_000_000, maxBytes: 1_024 ** 3 }); // which drops none of those that are measured
await using agent = await createAgent({ bus, model, definitions: reader, store }).use(serviceSearch()).start();

async function family(sessionId: string): Promise<number> {
  const startedAt = performance.now();
  const request: TurnRequest = {
    caller: "agent",
    sessionId,
    turnId: newId(),
    message: "Look.",
    signal: new AbortController().signal,
    deadline: startedAt + 600_000,
  };
  const { text, finish } = await agent.runTurn(request);
  if (text !== "Done.") throw new Error(`A family ended in ${finish}: ${text}`);
  return performance.now() - startedAt - WAITED_MS;
}

const rows: string[] = [];
function row(
  what: string,
  overheads: number[],
  { startedAt, cpu }: { readonly startedAt: number; readonly cpu: NodeJS.CpuUsage },
): void {
  overheads.sort((a, b) => a - b);
  const at = (part: number): string =>
    (overheads[Math.min(overheads.length - 1, Math.floor(overheads.length * part))] ?? 0).toFixed(1);
  const used = process.cpuUsage(cpu);
  const cpuMs = (used.user + used.system) / 1_000 / (overheads.length * (1 + CHILDREN));
  const seconds = (performance.now() - startedAt) / 1_000;
  rows.push(
    `| ${what} | ${overheads.length} | ${(overheads.length / seconds).toFixed(1)} | ${at(0.5)} | ${at(0.99)} | ${cpuMs.toFixed(2)} |`,
  );
  process.stderr.write(`${rows.at(-1)}\n`);
}
const begin = () => ({ startedAt: performance.now(), cpu: process.cpuUsage() });
const sessions = Array.from({ length: SESSIONS }, () => newId());

await Promise.all(sessions.map(family)); // warm
const memory = (): number => {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
};
const before = memory();
const kept = SESSIONS * 2;
await Promise.all(Array.from({ length: kept }, () => family(newId())));
const kib = (memory() - before) / 1_024 / (kept * (1 + CHILDREN));
process.stderr.write(`${kib.toFixed(1)} KiB a session; the model was offered ${offered} tools\n`);

const paced = begin();
const started: Promise<number>[] = [];
for (let index = 0; index < SESSIONS * (isQuick ? 1 : 2); index++) {
  started.push(family(newId()));
  await setTimeout(Math.max(0, paced.startedAt + ((index + 1) * 1_000) / PER_SECOND - performance.now()));
}
row(`${PER_SECOND} families begin in a second`, await Promise.all(started), paced);

const atOnce = begin();
const overheads: number[] = [];
await Promise.all(
  sessions.map(async (session) => {
    for (let round = 0; round < ROUNDS; round++) overheads.push(await family(session));
  }),
);
row(`${SESSIONS} sessions ask again and again`, overheads, atOnce);

const report = `<!-- Written by \`npm run measure -- families\`. Do not edit. -->
# What families of agents cost

Measured by \`npm run measure -- families\` on ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, at a load of ${load.toFixed(1)} from elsewhere.

One process has the agent, its stores and the model, over the in-memory bus. There are ${DEFINITIONS} definitions. A family is a turn that calls ${CHILDREN} agents at once, and answers.
Each of them reports at once. Each answer of the model takes ${MODEL_MS} ms. The overhead is the time of a root's turn less those of the answers that follow each other: ${WAITED_MS} ms.
The model was offered ${offered} tools, as a search finds the others.

| families | how many | a second | overhead p50, ms | overhead p99, ms | CPU a turn, ms |
|---|---|---|---|---|---|
${rows.join("\n")}

A session that has ended keeps ${kib.toFixed(1)} KiB of the heap, with its history, its turn and its events.
`;
if (!isQuick) await writeFile(join(import.meta.dirname, "../../../docs/measured/families.md"), report);
