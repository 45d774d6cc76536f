import { setTimeout as sleep } from "node:timers/promises";
import { startOwnRedis, type TestRedis } from "@rockbot/testing";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { openRawChannel } from "../broker/raw-channel.ts";
import { startVerifiedBroker, type VerifiedBroker } from "../broker/verified-broker.ts";
import { connect } from "../broker/verified-system.ts";
import { type SettledCall, settleCall } from "../faults/agent/settle-calls.ts";
import { startProgram, untilReady } from "../services/start-service.ts";
import type { AbusedOptions } from "./abused-options.ts";
import type { AbusiveAgentOptions } from "./abusive-agent-service.ts";
import { ABUSIVE, type FloodName, floods, isForCopies, POLICY } from "./floods.ts";

export interface FloodRow {
  readonly flood: FloodName;
  readonly publishedPerSecond: number;
  /** Why the broker ended its connection, if it did. */
  readonly refusal: string;
  /** The honest caller's calls during the flood, and the part of them that ended well. */
  readonly calls: number;
  readonly successes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The same caller right before. */
  readonly quietP50Ms: number;
  readonly quietP99Ms: number;
  /**
   * The same caller while as many of these messages go to a queue that nobody of ours reads: what they cost by the
   * broker and the machine alone.
   */
  readonly controlP50Ms: number;
  readonly controlP99Ms: number;
  /** What is there at the end, beyond what was before. */
  readonly redisKeys: number;
  readonly redisMiB: number;
  readonly queuedMiB: number;
  readonly diskMiB: number;
}

export interface RunFloodsOptions {
  readonly floods: readonly FloodName[];
  /** Each flood, half as long before it without one, and half as long after it of the control. */
  readonly seconds: number;
  readonly callsPerSecond: number;
  /** True to measure times, which needs a control. @default true */
  readonly isTimed?: boolean | undefined;
  readonly onRow?: ((row: FloodRow) => void) | undefined;
}

/** Longer than a machine that does much else takes, shorter than anybody waits. */
const CALL_TIMEOUT_MS = 10_000;
/** What a flood has left is worked off in this time, or is left. */
const CALM_MS = 30_000;
/** Asks a broker for the bytes in all its queues, and the KiB on its disk. */
const BYTES =
  "{lists:sum([Bytes || Queue <- rabbit_amqqueue:list(), {message_bytes, Bytes} <- rabbit_amqqueue:info(Queue, [message_bytes]), is_integer(Bytes)]), " +
  'list_to_integer(hd(string:lexemes(os:cmd("du -sk " ++ rabbit_mnesia:dir()), "\\t ")))}.';
/** The queue of the control, and its topic. */
const CONTROL = "control";

/**
 * One agent with a valid user floods services, and another calls them: both over a broker of their own that verifies
 * senders, without any limit of the policy's.
 */
export async function runFloods({
  floods: names,
  seconds,
  callsPerSecond,
  isTimed = true,
  onRow,
}: RunFloodsOptions): Promise<FloodRow[]> {
  await using broker = await startVerifiedBroker(POLICY);
  await using redis = await startOwnRedis();
  const options: AbusedOptions = {
    urls: {
      echoes: broker.urlOf("echoes"),
      scripts: broker.urlOf("scripts"),
      "mcp-bridge": broker.urlOf("mcp-bridge"),
    },
    redisUrl: redis.url,
  };
  await using _services = await untilReady(
    "services",
    startProgram("test/abuse/abused-service.ts", { args: [JSON.stringify(options)], hasSession: true }),
    "ready\n",
  );
  await using bus = await connect(broker, "honest");
  await using caller = await createToolCaller(bus, { agent: "honest", policy: broker.policy });
  await caller.discovered();
  await callFor(caller, 1, callsPerSecond);
  const queues = await servedQueues(broker);

  const rows: FloodRow[] = [];
  for (const flood of names) {
    const quiet = await callFor(caller, seconds / 2, callsPerSecond);
    const before = await measure(broker, redis);
    await using agent = await startAbusiveAgent({ url: broker.urlOf(ABUSIVE), flood });
    const calls = await callFor(caller, seconds, callsPerSecond);
    const { published, refusal } = await agent.stop();
    const after = await measure(broker, redis);
    if (isTimed || flood !== names.at(-1)) await untilCalm(broker, queues); // for the control, and the next
    const control = !isTimed
      ? []
      : await callBesideControl(broker, caller, {
          flood,
          perSecond: published / seconds,
          seconds: seconds / 2,
          callsPerSecond,
        });
    const row: FloodRow = {
      flood,
      publishedPerSecond: Math.round(published / seconds),
      refusal,
      calls: calls.length,
      successes: calls.filter(({ outcome }) => outcome === "ok").length / calls.length,
      p50Ms: quantile(calls, 0.5),
      p99Ms: quantile(calls, 0.99),
      quietP50Ms: quantile(quiet, 0.5),
      quietP99Ms: quantile(quiet, 0.99),
      controlP50Ms: quantile(control, 0.5),
      controlP99Ms: quantile(control, 0.99),
      redisKeys: after.redisKeys - before.redisKeys,
      redisMiB: after.redisMiB - before.redisMiB,
      queuedMiB: after.queuedMiB - before.queuedMiB,
      diskMiB: after.diskMiB - before.diskMiB,
    };
    rows.push(row);
    onRow?.(row);
  }
  return rows;
}

/** An agent that has begun: it has what others leave of the processor, which may be little for some time. */
async function startAbusiveAgent(options: AbusiveAgentOptions) {
  const started = startProgram("test/abuse/abusive-agent-service.ts", {
    args: [JSON.stringify(options)],
    hasSession: true,
  });
  const agent = await untilReady("the abusive agent", started, "begun\n");
  return {
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
    async stop(): Promise<{ readonly published: number; readonly refusal: string }> {
      agent.kill("SIGTERM");
      const end = await Promise.race([agent.ended, sleep(60_000, "late" as const, { ref: false })]);
      return end === "late"
        ? { published: Number.NaN, refusal: "it does not end" }
        : JSON.parse(agent.stdout().replace("begun\n", ""));
    },
  };
}

interface ControlOptions {
  readonly flood: FloodName;
  readonly perSecond: number;
  readonly seconds: number;
  readonly callsPerSecond: number;
}

/**
 * The control: the messages of a flood, as many a second, go to a queue of the same type that nobody reads, so that
 * none of ours has to do with them. On a machine where broker, services and callers share processors and a disk they
 * cost the others this much whatever services do.
 */
async function callBesideControl(
  broker: VerifiedBroker,
  caller: ToolCaller,
  { flood, perSecond, seconds, callsPerSecond }: ControlOptions,
) {
  await using raw = await openRawChannel(broker.url);
  const type = isForCopies(floods[flood]()) ? "classic" : "quorum";
  const bounds = { "x-queue-type": type, "x-max-length": 1_000, "x-overflow": "drop-head" };
  await raw.channel.assertQueue(CONTROL, { durable: true, arguments: bounds });
  await raw.channel.bindQueue(CONTROL, "rockbot", CONTROL);
  await using agent = await startAbusiveAgent({ url: broker.url, flood, topic: CONTROL, perSecond });
  const calls = await callFor(caller, seconds, callsPerSecond);
  await agent.stop();
  await raw.channel.deleteQueue(CONTROL);
  return calls;
}

async function callFor(caller: ToolCaller, seconds: number, perSecond: number): Promise<SettledCall[]> {
  const calls: Promise<SettledCall>[] = [];
  const start = performance.now();
  while (calls.length < seconds * perSecond) {
    const due = Math.min(seconds * perSecond, Math.floor(((performance.now() - start) / 1_000) * perSecond) + 1);
    while (calls.length < due)
      calls.push(
        settleCall(caller, "echo_text", { id: `${calls.length}`, text: "hello" }, { timeoutMs: CALL_TIMEOUT_MS }),
      );
    await sleep(5);
  }
  return Promise.all(calls);
}

function quantile(calls: readonly SettledCall[], part: number): number {
  const sorted = calls.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

async function measure(broker: VerifiedBroker, redis: TestRedis) {
  const [held, keys, memory] = await Promise.all([
    broker.ctl("eval", BYTES), // one start of `rabbitmqctl` costs as much as a hundred calls
    redis.ctl("DBSIZE"),
    redis.ctl("INFO", "memory"),
  ]);
  const [, queuedBytes, diskKiB] = /^\{(\d+),(\d+)\}/.exec(held) ?? [];
  if (diskKiB === undefined) throw new Error(`Expected two numbers of the broker, and got ${held}`);
  return {
    queuedMiB: Number(queuedBytes) / 2 ** 20,
    diskMiB: Number(diskKiB) / 1024,
    redisKeys: Number(/(\d+)/.exec(keys)?.[1]),
    redisMiB: Number(/used_memory:(\d+)/.exec(memory)?.[1]) / 2 ** 20,
  };
}

/** What services have to work off. */
async function servedQueues(broker: VerifiedBroker): Promise<readonly string[]> {
  const listed = await broker.ctl("-q", "list_queues", "--no-table-headers", "name");
  return listed.split("\n").filter((name) => /\.v1(\.retry)?$/.test(name) && !name.includes("result"));
}

async function untilCalm(broker: VerifiedBroker, queues: readonly string[]): Promise<void> {
  await using raw = await openRawChannel(broker.url);
  const until = performance.now() + CALM_MS;
  while (performance.now() < until) {
    const counts = await Promise.all(queues.map((queue) => raw.channel.checkQueue(queue)));
    if (counts.every(({ messageCount }) => messageCount === 0)) return;
    await sleep(500);
  }
}
