import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { startOwnBroker } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { type RunningProcess, startProgram, untilReady } from "../../services/start-service.ts";
import { findErlangNode, treeCpuUs, treeMemory } from "../place/processor-time.ts";
import { V8_FLAGS } from "../start-peer.ts";
import type { CallersDone, CallersIdle, CallersOrder, CallersReady, Size } from "./growth.ts";

export interface GrowthOptions {
  /** How long nobody calls, and then each caller has one call out. */
  readonly idleMs: number;
  readonly loopMs: number;
  /** Sizes that were measured before, by their JSON. */
  readonly known: Map<string, GrowthRow>;
}

const growthParts = ["callers", "services", "broker"] as const;
type Cores = Readonly<Record<(typeof growthParts)[number], number>>;

/** A system of one size. Times are in milliseconds, memory in bytes. */
export interface GrowthRow extends Size {
  /** From the start of the services' processes until a caller knows each tool. */
  readonly servicesReadyMs: number;
  /** From the start of the callers' processes until each knows each tool. */
  readonly callersReadyMs: number;
  readonly callsPerSecond: number;
  readonly p99Ms: number;
  /** What each caller adds to its process, and to the broker. */
  readonly callerBytes: number;
  readonly brokerBytesPerCaller: number;
  readonly servicesBytes: number;
  /** What one caller has received when it knows each tool, and gets in a minute without a change. */
  readonly foundBytes: number;
  readonly discoveryBytesPerMinute: number;
  /** The messages of discovery that all callers get. */
  readonly discoveryPerSecond: number;
  readonly idleCores: Cores;
  readonly busyCores: Cores;
}

/** The first size of a series that is too much, and why. */
export interface Limit extends Size {
  readonly why: string;
}
export interface Series {
  readonly grows: keyof Size;
  readonly rows: readonly GrowthRow[];
  /** Undefined if none of the sizes was too much. */
  readonly limit: Limit | undefined;
}

const SERVICES_PER_PROCESS = 25;
const CALLERS_PER_PROCESS = 250;
const READY_MS = 240_000;
/** More of the machine than this share, while nobody calls, is too much. */
const IDLE_SHARE = 0.5;
/** Fewer calls than this share of those of the best smaller size are too few. */
const CALLS_SHARE = 0.5;

/** Measures each size in turn, until one is too much. */
export async function measureGrowth(
  grows: keyof Size,
  sizes: readonly Size[],
  options: GrowthOptions,
): Promise<Series> {
  const rows: GrowthRow[] = [];
  let limit: Limit | undefined;
  for (const size of sizes) {
    if (limit !== undefined) break;
    try {
      const row = options.known.get(JSON.stringify(size)) ?? (await measureSize(size, options));
      options.known.set(JSON.stringify(size), row);
      const why = limitOf(row, rows);
      rows.push(row);
      if (why !== undefined) limit = { ...size, why };
    } catch (error) {
      limit = { ...size, why: `it fails: ${(error as Error).message.replace(/ to amqp:\S+/, "")}` };
    }
    process.stderr.write(`${JSON.stringify(limit ?? rows.at(-1))}\n`);
  }
  return { grows, rows, limit };
}

function limitOf({ idleCores, callsPerSecond, discoveryPerSecond }: GrowthRow, smaller: readonly GrowthRow[]) {
  const idle = sumOf(Object.values(idleCores));
  if (idle > IDLE_SHARE * cpus().length)
    return `${idle.toFixed(2)} of ${cpus().length} cores are busy without calls, most of them with ${busiestOf(idleCores)}: ${discoveryPerSecond.toFixed(0)} heartbeats/s`;
  const best = Math.max(0, ...smaller.map((row) => row.callsPerSecond));
  return callsPerSecond < CALLS_SHARE * best
    ? `${callsPerSecond.toFixed(0)} calls/s are less than half of the ${best.toFixed(0)} of a smaller size`
    : undefined;
}

/** The part that takes most. */
export const busiestOf = (cores: Cores): string => growthParts.toSorted((a, b) => cores[b] - cores[a])[0] ?? "";

/** A broker, services and callers of this size; all processes are of this machine. */
async function measureSize(size: Size, { idleMs, loopMs }: Omit<GrowthOptions, "known">): Promise<GrowthRow> {
  await using stack = new AsyncDisposableStack();
  const broker = stack.use(await startOwnBroker());
  const brokerPid = await findErlangNode((await broker.ctl("eval", "node().")).trim().replaceAll("'", ""));
  const { processes: services, readyMs: servicesReadyMs } = await startServices(stack, broker.url, size);
  const servicesBytes = await memoryOf(services);
  const brokerBefore = await treeMemory(brokerPid);

  const startedAt = performance.now();
  const shares = parted(size.callers, CALLERS_PER_PROCESS);
  const callers = shares.map(({ from, to }) => {
    const order: CallersOrder = { ...size, amqpUrl: broker.url, first: from, callers: to - from, idleMs, loopMs };
    const args = [JSON.stringify(order)];
    const program = startProgram("test/bench/scale/growth-callers-service.ts", {
      args,
      nodeArgs: [...V8_FLAGS, "--expose-gc"],
    });
    return stack.use(program);
  });
  const ready = await Promise.all(callers.map((program) => said<CallersReady>(program, "ready", READY_MS)));
  const callersReadyMs = performance.now() - startedAt;
  const brokerBytes = (await treeMemory(brokerPid)) - brokerBefore;
  const usage = async (): Promise<Cores> => ({
    callers: await cpuOf(callers),
    services: await cpuOf(services),
    broker: await treeCpuUs(brokerPid),
  });

  const atReady = { at: performance.now(), usage: await usage() };
  for (const program of callers) program.kill("SIGUSR2");
  const idle = await Promise.all(callers.map((program) => said<CallersIdle>(program, "idle", idleMs + READY_MS)));
  const atIdle = { at: performance.now(), usage: await usage() };
  const done = await Promise.all(callers.map((program) => said<CallersDone>(program, "done", loopMs + READY_MS)));
  const atDone = { at: performance.now(), usage: await usage() };
  return {
    ...size,
    servicesReadyMs,
    callersReadyMs,
    callsPerSecond: sumOf(done.map(({ calls, elapsedMs }) => (calls * 1_000) / elapsedMs)),
    p99Ms: Math.max(...done.map(({ p99Ms }) => p99Ms)),
    callerBytes: sumOf(ready.map(({ memory }) => memory)) / size.callers,
    brokerBytesPerCaller: brokerBytes / size.callers,
    servicesBytes,
    foundBytes: sumOf(ready.map(({ bytes }) => bytes)) / size.callers,
    discoveryBytesPerMinute: ((sumOf(idle.map(({ bytes }) => bytes)) / idleMs) * 60_000) / size.callers,
    discoveryPerSecond: (sumOf(idle.map(({ messages }) => messages)) / idleMs) * 1_000,
    idleCores: coresOf(atReady, atIdle),
    busyCores: coresOf(atIdle, atDone),
  };
}

/** Resolves once a caller, which was there before, knows each tool. */
async function startServices(stack: AsyncDisposableStack, amqpUrl: string, { services, tools }: Size) {
  await using caller = await createToolCaller(await connectBus(amqpUrl), { agent: "growth-first", results: "copy" });
  const known = (): number => caller.tools.getTools().filter(({ name }) => name.startsWith("growth_")).length;
  const startedAt = performance.now();
  const processes = parted(services, SERVICES_PER_PROCESS).map(({ from, to }) => {
    const args = [amqpUrl, from, to, tools / services].map(String);
    return stack.use(startProgram("test/bench/scale/growth-tools-service.ts", { args, nodeArgs: V8_FLAGS }));
  });
  await Promise.all(processes.map((program) => untilReady("the services", program, "ready\n")));
  while (known() < tools) {
    if (performance.now() - startedAt > READY_MS) throw new Error(`a caller knows ${known()} of ${tools} tools`);
    await sleep(20);
  }
  return { processes, readyMs: performance.now() - startedAt };
}

/** What a program of callers says under the name. @throws {Error} with its words if it ends before, or takes too long */
async function said<T>(program: RunningProcess, name: string, ms: number): Promise<T> {
  let hasEnded = false;
  void program.ended.then(() => (hasEnded = true));
  for (const end = performance.now() + ms; ; await sleep(20)) {
    const line = program
      .stdout()
      .split("\n")
      .find((text) => text.startsWith(`{"${name}":`) && text.endsWith("}"));
    if (line !== undefined) return (JSON.parse(line) as Record<string, T>)[name] as T;
    if (hasEnded) throw new Error(`callers end: ${/^\w*Error: (.*)/m.exec(program.stderr())?.[1] ?? "without a word"}`);
    if (performance.now() > end) throw new Error(`callers are not ${name} after ${(ms / 1_000).toFixed(0)} s`);
  }
}

/** The numbers below `count`, so many in each part. */
const parted = (count: number, most: number) =>
  Array.from({ length: Math.ceil(count / most) }, (_, part) => ({
    from: part * most,
    to: Math.min(count, (part + 1) * most),
  }));

interface Moment {
  readonly at: number;
  readonly usage: Cores;
}
const coresOf = (before: Moment, after: Moment): Cores =>
  Object.fromEntries(
    growthParts.map((part) => [part, (after.usage[part] - before.usage[part]) / 1_000 / (after.at - before.at)]),
  ) as Cores;
const cpuOf = async (programs: readonly RunningProcess[]): Promise<number> =>
  sumOf(await Promise.all(programs.map(({ pid }) => treeCpuUs(pid))));
const memoryOf = async (programs: readonly RunningProcess[]): Promise<number> =>
  sumOf(await Promise.all(programs.map(({ pid }) => treeMemory(pid))));
const sumOf = (figures: readonly number[]): number => figures.reduce((sum, figure) => sum + figure, 0);
