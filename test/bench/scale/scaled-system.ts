import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { startOwnBroker, startOwnRedis } from "@rockbot/testing";
import { startProgram, untilReady } from "../../services/start-service.ts";
import { type Caller, MAX_CALLS_OUT } from "../contender.ts";
import { connectHttpCaller } from "../contenders/http-caller.ts";
import { preparePlace } from "../place/prepare-place.ts";
import { findErlangNode, treeCpuUs, treeMemory } from "../place/processor-time.ts";
import { V8_FLAGS } from "../start-peer.ts";
import { SCALE_SERVICE, works } from "./scale-tools.ts";

/** What a system has of each part. */
export interface Scale {
  readonly replicas: number;
  readonly concurrency: number;
  readonly gateways: number;
  /** True if Redis writes each change to its disk. */
  readonly onDisk: boolean;
}

export const parts = ["service", "gateway", "broker", "Redis"] as const;
export type Part = (typeof parts)[number];
/** User and system time since its start in microseconds, and bytes of memory. */
export type Usage = Readonly<Record<Part, { readonly cpuUs: number; readonly memory: number }>>;

export interface ScaledSystem extends AsyncDisposable {
  /** Calls a tool by each gateway in turn. */
  callerOf(tool: keyof typeof works): Caller;
  usage(): Promise<Usage>;
  versions(): Promise<string>;
}

/** As docker/policy/policy.yaml has it: who comes by the gateway is the caller `gateway`. */
const policyText = `
identity: verified
services: { ${SCALE_SERVICE}: { topic: tool.invoke.${SCALE_SERVICE}, tools: [${Object.keys(works).join(", ")}] } }
callers: { gateway: { allow: ["*"], limits: { inFlight: ${MAX_CALLS_OUT} } } }
delegates: [gateway]
`;

/** A service, gateways, a broker and a Redis as processes of this machine, as docker-compose.yml sets them up. */
export async function startScaledSystem({ replicas, concurrency, gateways, onDisk }: Scale): Promise<ScaledSystem> {
  await using stack = new AsyncDisposableStack();
  const broker = stack.use(await startOwnBroker());
  const redis = stack.use(await startOwnRedis({ appendonly: onDisk }));
  const place = await preparePlace(stack, broker, redis, policyText);
  const token = randomBytes(16).toString("hex");
  const env = {
    BUS_URL: place.amqpUrls["gateway"] ?? "",
    REDIS_URL: place.redisUrl,
    POLICY_FILE: place.policyFile,
    OTEL_EXPORTER_OTLP_ENDPOINT: place.otlpUrl,
    GATEWAY_TOKEN: token,
    PORT: "0",
    MAX_CONCURRENT: String(MAX_CALLS_OUT),
    LOG_LEVEL: "info",
  };
  const service = { args: [JSON.stringify(place), String(concurrency)], nodeArgs: V8_FLAGS };
  const started = [
    ...Array.from({ length: replicas }, () =>
      untilReady("the service", startProgram("test/bench/scale/scale-service.ts", service), "ready\n"),
    ),
    ...Array.from({ length: gateways }, () =>
      untilReady(
        "the gateway",
        startProgram("services/main.ts", { args: ["gateway"], env, nodeArgs: V8_FLAGS }),
        '"msg":"ready"',
      ),
    ),
  ];
  const processes = (await Promise.all(started)).map((process) => stack.use(process));
  const services = processes.slice(0, replicas);
  const doors = processes.slice(replicas);
  const urls = doors.map(({ stdout }) => /http:\/\/127\.0\.0\.1:\d+/.exec(stdout())?.[0] ?? "");
  const brokerPid = await findErlangNode((await broker.ctl("eval", "node().")).trim().replaceAll("'", ""));
  const ofProcesses = async (pids: readonly number[]) => {
    const [times, memories] = await Promise.all([Promise.all(pids.map(treeCpuUs)), Promise.all(pids.map(treeMemory))]);
    return { cpuUs: sumOf(times), memory: sumOf(memories) };
  };
  const running = stack.move();
  return {
    callerOf(tool) {
      const callers = urls.map((url) => connectHttpCaller(url, tool, { authorization: `Bearer ${token}` }));
      let next = 0;
      return {
        call: (payload) => (callers[next++ % callers.length] as Caller).call(payload),
        [Symbol.asyncDispose]: async () =>
          void (await Promise.all(callers.map((caller) => caller[Symbol.asyncDispose]()))),
      };
    },
    async usage() {
      const info = await redis.ctl("info");
      const figure = (name: string): number => Number(new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1]);
      const [service, gateway, ofBroker] = await Promise.all(
        [services.map(({ pid }) => pid), doors.map(({ pid }) => pid), [brokerPid]].map(ofProcesses),
      );
      const ofRedis = {
        cpuUs: (figure("used_cpu_sys") + figure("used_cpu_user")) * 1e6,
        memory: figure("used_memory_rss"),
      };
      return { service, gateway, broker: ofBroker, Redis: ofRedis } as Usage;
    },
    async versions() {
      const rabbitmq = (await broker.ctl("eval", "rabbit_misc:version().")).trim().replaceAll('"', "");
      return `RabbitMQ ${rabbitmq}, Redis ${/redis_version:(\S+)/.exec(await redis.ctl("info", "server"))?.[1]}`;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const sumOf = (figures: readonly number[]): number => figures.reduce((sum, figure) => sum + figure, 0);

/** Calls at a fixed rate, whether answers come or not. @returns the time of each from when it was due, sorted */
export async function callAtRate(
  caller: Caller,
  { perSecond, ms }: { readonly perSecond: number; readonly ms: number },
): Promise<readonly number[]> {
  const begun = performance.now();
  const times: Promise<number>[] = [];
  for (let index = 0; index < (perSecond * ms) / 1_000; index++) {
    const due = begun + (index * 1_000) / perSecond;
    const early = due - performance.now();
    if (early > 1) await sleep(early);
    times.push(caller.call({ text: `${index}:${"x".repeat(200)}`.slice(0, 200) }).then(() => performance.now() - due));
  }
  return (await Promise.all(times)).toSorted((a, b) => a - b);
}
