/** Asks an agent: `node --expose-gc load-service.ts JSON`, see LoadOptions. Says a LoadResult on stdout, as JSON. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { configSchema, startAgentService } from "@rockbot/agent-service";
import { type Bus, createMemoryBus } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { newId } from "@rockbot/contracts";
import { loadConfig } from "@rockbot/process/config";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { effectTool } from "../effect-tool.ts";
import { type LoadOptions, type LoadResult, type Memory, messageOf, spreadOf, TEXT } from "./load.ts";

interface Turn {
  readonly id: string;
  readonly ms: number;
  readonly isRight: boolean;
}

const options = JSON.parse(process.argv[2] ?? "{}") as LoadOptions;
const { busUrl, agentPid, model, sessions, calls, perSecond, ms } = options;
/** The first calls of a process are slower. */
const WARM_UP_MS = 4_000;
const AT_ONCE = 50;
const run = newId();

await using started = new AsyncDisposableStack();
const bus = started.use(busUrl === undefined ? createMemoryBus() : await connectBus(busUrl, { name: "bench" }));
if (busUrl === undefined) await startEmbedded(bus);
const caller = started.use(await createToolCaller(bus, { agent: "bench", results: "copy", maxCallsInFlight: 4_096 }));
await caller.discovered();

await askAgain("warm-up", 20, WARM_UP_MS);
await timesOfModel();
const before = memory();
const cpuBefore = cpuMs();
const start = performance.now();
const turns = await measured();
const elapsedMs = performance.now() - start;
const cpu = cpuMs() - cpuBefore;
const after = memory();

const times = await timesOfModel();
const right = turns.filter(({ isRight }) => isRight);
const result: LoadResult = {
  turns: turns.length,
  turnsPerSecond: (1_000 * turns.length) / elapsedMs,
  failed: turns.length - right.length,
  overheadMs: spreadOf(right.map(({ id, ms: turnMs }) => turnMs - (times[id] ?? Number.NaN))),
  turnMs: spreadOf(right.map((turn) => turn.ms)),
  cpuPerTurnMs: cpu / turns.length,
  memory: agentPid === undefined ? [before, after] : undefined,
};
process.stdout.write(`${JSON.stringify(result)}\n`);

/** The agent in this process, as it is by default, with all that it keeps in this process, too. */
async function startEmbedded(own: Bus): Promise<void> {
  started.use(await serveTools(own, { tools: [effectTool(() => {})] }, { service: "effects", concurrency: 256 }));
  started.use(
    await startAgentService(own, loadConfig(configSchema, { env: model.env }), {
      service: "agent",
      topic: "tool.invoke.agent",
    }),
  );
}

function measured(): Promise<Turn[]> {
  if (ms === undefined) return askOnce();
  return perSecond === undefined ? askAgain("full", sessions, ms) : askSteadily(perSecond, ms);
}

/** @param since when the turn was due, on the clock of `performance.now()` */
async function ask(session: string, since = performance.now()): Promise<Turn> {
  const id = newId();
  const input = { message: messageOf(id, calls), session_id: `${run}-${session}` };
  const text = await caller.call("agent__chat", input, { toolCallId: id, timeoutMs: 120_000 }).then(
    ({ content }) => content,
    (error: unknown) => void process.stderr.write(`${error}\n`),
  );
  return { id, ms: performance.now() - since, isRight: text === TEXT };
}

/** Each session asks again once it has its answer. */
async function askAgain(name: string, width: number, forMs: number): Promise<Turn[]> {
  const until = performance.now() + forMs;
  const made: Turn[] = [];
  await Promise.all(
    Array.from({ length: width }, async (_, index) => {
      while (performance.now() < until) made.push(await ask(`${name}-${index}`));
    }),
  );
  return made;
}

/** Sessions ask in turn, at fixed times, however long answers take. */
async function askSteadily(rate: number, forMs: number): Promise<Turn[]> {
  const begin = performance.now();
  const made: Promise<Turn>[] = [];
  for (let due = begin; due < begin + forMs; due = begin + (1_000 * made.length) / rate) {
    await sleep(Math.max(0, due - performance.now()));
    made.push(ask(`steady-${made.length % sessions}`, due));
  }
  return Promise.all(made);
}

async function askOnce(): Promise<Turn[]> {
  const made: Turn[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < sessions) made.push(await ask(`once-${next++}`));
    }),
  );
  return made;
}

async function timesOfModel(): Promise<Readonly<Record<string, number>>> {
  return (await (await fetch(model.timesUrl)).json()) as Readonly<Record<string, number>>;
}

/** Processor time of the agent's process; of another one in steps of 10 ms. */
function cpuMs(): number {
  if (agentPid === undefined) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
  const fields = readFileSync(`/proc/${agentPid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

function memory(): Memory {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapUsed, rss };
}
