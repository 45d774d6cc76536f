/**
 * Measures what the agent adds to the time of its model, and what a session costs: writes docs/measured/agent.md.
 * `--quick` for a look; `--profiles FOLDER` keeps CPU profiles; `--note TEXT` says in the page what else was so.
 */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type NodeProgram, startOwnBroker, startOwnRedis } from "@rockbot/testing";
import { V8_FLAGS } from "../bench/start-peer.ts";
import { startProgram, untilReady } from "../services/start-service.ts";
import type { LoadOptions, LoadResult, Memory, ModelPlace } from "./load/load.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, profiles: { type: "string" }, note: { type: "string" } },
});
const SESSIONS = 200;
const PER_SECOND = 20;
const MODEL_MS = 500;
const MS = values.quick ? 3_000 : 15_000;
/** Sessions whose memory is measured, beside 200 before them. */
const KEPT = values.quick ? 200 : 1_000;
const LOAD = join(import.meta.dirname, "load");

type Kind = Pick<LoadOptions, "sessions" | "calls" | "perSecond" | "ms">;
/** The most that the p99 of the overhead should be at a fixed rate. */
const AIM_MS = { embedded: 15, overRabbitMq: 40 };
interface Place {
  readonly name: string;
  readonly aimMs: number;
  ask(kind: Kind): Promise<LoadResult>;
  /** What the agent's process keeps of KEPT sessions with a turn each. */
  keep(calls: 0 | 2): Promise<readonly [before: Memory, after: Memory]>;
}

const load = loadavg()[0] ?? 0;
await using started = new AsyncDisposableStack();
const modelProgram = started.use(startNode("model", "test/agent/load/model-service.ts", [String(MODEL_MS)]));
await untilReady("the model", modelProgram, "}\n");
const model = JSON.parse(modelProgram.stdout()) as ModelPlace;

const lines: string[] = [];
const misses: string[] = [];
const memoryLines: string[] = [];
for (const open of [embedded, overRabbitMq]) {
  await using place = await open();
  for (const calls of [0, 2] as const) {
    for (const perSecond of [PER_SECOND, undefined]) {
      const result = await place.ask({ sessions: SESSIONS, calls, perSecond, ms: MS });
      lines.push(lineOf(place, calls, perSecond, result));
      const { p99 } = result.overheadMs;
      if (perSecond !== undefined && p99 > place.aimMs)
        misses.push(`${place.name} with ${calls} tool calls, ${p99.toFixed(1)} ms`);
      process.stderr.write(`${lines.at(-1)}\n`);
    }
  }
  for (const calls of [0, 2] as const) {
    const [before, after] = await place.keep(calls);
    const kib = (of: keyof Memory): string => ((after[of] - before[of]) / KEPT / 1_024).toFixed(1);
    memoryLines.push(
      `| ${place.name} | ${calls} | ${kib("heapUsed")} | ${kib("rss")} | ${(after.rss / 1_048_576).toFixed(0)} |`,
    );
    process.stderr.write(`${memoryLines.at(-1)}\n`);
  }
}

function lineOf(
  { name }: Place,
  calls: number,
  perSecond: number | undefined,
  { turns, turnsPerSecond, failed, overheadMs, turnMs, cpuPerTurnMs }: LoadResult,
) {
  const offered = perSecond === undefined ? `full: ${SESSIONS} turns at a time` : `${perSecond} turns/s`;
  const figures = [overheadMs.p50, overheadMs.p99, turnMs.p50, turnMs.p99, cpuPerTurnMs].map((figure) =>
    figure.toFixed(1),
  );
  return `| ${[name, calls, offered, turns, failed, turnsPerSecond.toFixed(1), ...figures].join(" | ")} |`;
}

/** The agent, its tool, its stores and the asker in one process, a new one for each row. */
async function embedded(): Promise<Place & AsyncDisposable> {
  const ask = (kind: Kind): Promise<LoadResult> =>
    runLoad("embedded", { ...kind, busUrl: undefined, agentPid: undefined, model });
  return {
    name: "one process",
    aimMs: AIM_MS.embedded,
    ask,
    keep: async (calls) => (await ask({ sessions: KEPT, calls })).memory ?? absent(),
    async [Symbol.asyncDispose]() {},
  };
}

/** The agent, its tool and the asker as processes of their own, with RabbitMQ and Redis. */
async function overRabbitMq(): Promise<Place & AsyncDisposable> {
  await using opening = new AsyncDisposableStack();
  const broker = opening.use(await startOwnBroker());
  const redis = opening.use(await startOwnRedis());
  opening.use(
    await untilReady(
      "the tool",
      startNode("tool", "test/agent/load/tool-service.ts", [broker.url, redis.url]),
      "ready\n",
    ),
  );
  const env = { ...model.env, BUS_URL: broker.url, REDIS_URL: redis.url };
  const agent = opening.use(
    startNode("agent", "services/main.ts", ["agent"], env, ["--import", join(LOAD, "tell-memory-service.ts")]),
  );
  await untilReady("the agent", agent, '"msg":"ready"');
  const ask = (kind: Kind): Promise<LoadResult> =>
    runLoad("caller", { ...kind, busUrl: broker.url, agentPid: agent.pid, model });
  const opened = opening.move();
  return {
    name: "RabbitMQ and Redis",
    aimMs: AIM_MS.overRabbitMq,
    ask,
    async keep(calls) {
      await ask({ sessions: 200, calls });
      const before = await memoryOf(agent);
      await ask({ sessions: KEPT, calls });
      return [before, await memoryOf(agent)];
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function runLoad(name: string, options: LoadOptions): Promise<LoadResult> {
  await using program = startNode(name, "test/agent/load/load-service.ts", [JSON.stringify(options)]);
  const code = await program.ended;
  if (code !== 0) throw new Error(`The load ended with ${code}:\n${program.stdout()}${program.stderr()}`);
  if (program.stderr() !== "") process.stderr.write(program.stderr().slice(-2_000));
  return JSON.parse(program.stdout()) as LoadResult;
}

/** A program with the flags of our images. */
function startNode(
  name: string,
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): NodeProgram {
  const profiling =
    values.profiles === undefined
      ? []
      : ["--cpu-prof", `--cpu-prof-dir=${values.profiles}`, `--cpu-prof-name=${name}.${Date.now()}.cpuprofile`];
  return startProgram(file, { args, env, nodeArgs: [...V8_FLAGS, "--expose-gc", ...profiling, ...flags] });
}

async function memoryOf(program: NodeProgram): Promise<Memory> {
  const said = program.stdout().length;
  program.kill("SIGUSR2");
  for (let waits = 0; waits < 1_000; waits++) {
    const [, json] = /\n\{"memory":(\{.*?\})\}\n/.exec(program.stdout().slice(said)) ?? [];
    if (json !== undefined) return JSON.parse(json) as Memory;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return absent();
}

function absent(): never {
  throw new Error("The agent's process does not say how much memory it has");
}

const report = `<!-- Written by \`npm run measure -- agent\`. Do not edit. -->
# What the agent adds to its model

Measured by \`npm run measure -- agent\` on ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}. The load was ${load.toFixed(1)} at
its beginning, and ${(loadavg()[0] ?? 0).toFixed(1)} with its own at its end. All processes share the machine: the model's server, RabbitMQ and Redis, too.${values.note === undefined ? "" : ` ${values.note}`}

## Turns

${SESSIONS} sessions, each row for ${MS / 1_000} s after a warm-up. A turn is a call of \`agent__chat\`. The model is an HTTP server in a process of its own, which checks each request as its makers do.
Each of its answers begins after ${MODEL_MS} ms, and streams 400 characters. A turn with two tool calls has two answers. The calls run at once, are claimed, and do nothing.

The overhead is the time of a turn as its caller sees it, less the time of its requests at the model's server. The server counts from the head of a request to the end of
its answer. So the overhead has the agent's side of HTTP, the SDK that reads the stream, the bus, the stores and the tool calls. With turns at a fixed rate, a turn's
time begins when it is due. Processor time is that of the agent's process; of one process that is the tool and the asker, too.

| place | tool calls | load | turns | failed | turns/s | overhead p50 ms | overhead p99 ms | turn p50 ms | turn p99 ms | processor ms per turn |
|---|---|---|---|---|---|---|---|---|---|---|
${lines.join("\n")}

At ${PER_SECOND} turns/s the aim for the p99 of the overhead is ${AIM_MS.embedded} ms in one process, and ${AIM_MS.overRabbitMq} ms over RabbitMQ. ${misses.length === 0 ? "Each row keeps it." : `Not kept: ${misses.join("; ")}.`}

## Memory of a session

The table shows what each of ${KEPT} new sessions leaves in the agent's process after one turn. Garbage is collected before. In one process that is all: history, results, events and the journal of calls.
Over RabbitMQ these are in Redis.

| place | tool calls | heap KiB | RSS KiB | RSS of the process at the end, MiB |
|---|---|---|---|---|
${memoryLines.join("\n")}
`;
if (!values.quick) await writeFile(join(import.meta.dirname, "../../docs/measured/agent.md"), report);
process.stdout.write(report);
