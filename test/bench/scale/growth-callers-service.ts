/**
 * Callers of the measurement of growth, each with a connection of its own: its argument is a CallersOrder. It says what
 * it has found out in a line of JSON each: when each caller knows each tool, after a time without calls, which begins
 * with SIGUSR2, and after a time with one call of each caller out.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { closedLoop } from "../closed-loop.ts";
import { payloadOf } from "../contenders/tool-caller.ts";
import { type CallersDone, type CallersIdle, type CallersOrder, type CallersReady, growthTool } from "./growth.ts";

const {
  amqpUrl,
  first,
  callers: count,
  services,
  tools,
  idleMs,
  loopMs,
} = JSON.parse(process.argv[2] ?? "{}") as CallersOrder;
/** Callers of a process that connect at once: of many more, the broker leaves some without an answer in time. */
const AT_ONCE = 4;
const FOUND_MS = 120_000;
const heard = { messages: 0, bytes: 0 };
/** Node ends by this signal until somebody listens. */
const begins = once(process, "SIGUSR2");
const say = (words: { ready: CallersReady } | { idle: CallersIdle } | { done: CallersDone }): void =>
  void process.stdout.write(`${JSON.stringify(words)}\n`);
const memory = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().rss;
};

const before = memory();
const callers: ToolCaller[] = [];
let next = first;
await Promise.all(Array.from({ length: AT_ONCE }, connectInTurn));
say({ ready: { memory: memory() - before, bytes: heard.bytes } });

await begins;
Object.assign(heard, { messages: 0, bytes: 0 });
await sleep(idleMs);
say({ idle: { ...heard } });

let serial = 0;
const each = {
  async call(payload: { readonly text?: string }) {
    const number = serial++;
    const name = growthTool(number % services, (number * 7_919) % (tools / services));
    return payloadOf(await (callers[number % count] as ToolCaller).call(name, payload));
  },
  async [Symbol.asyncDispose]() {},
};
const loop = { concurrency: count, bytes: 200, payload: "text", thinkMs: 0 } as const;
const { calls, elapsedMs, p99Ms } = await closedLoop(each, { ...loop, ms: loopMs });
say({ done: { calls, elapsedMs, p99Ms } });

async function connectInTurn(): Promise<void> {
  while (next < first + count) {
    const agent = `growth-${next++}`;
    const caller = await createToolCaller(counting(await connectBus(amqpUrl)), { agent });
    callers.push(caller);
    const end = performance.now() + FOUND_MS;
    while (caller.tools.getTools().filter(({ name }) => name.startsWith("growth_")).length < tools) {
      if (performance.now() > end) throw new Error(`${agent} does not know all tools after ${FOUND_MS} ms`);
      await sleep(20);
    }
  }
}

/** A bus that counts what comes of the messages by which callers find services. */
function counting(bus: Bus): Bus {
  const subscribe: Bus["subscribe"] = (options, handler) =>
    bus.subscribe(options, (message, delivery) => {
      if (/ToolAnnounc|ToolHeartbeat|ToolListChange/.test(message.type)) {
        heard.messages += 1;
        heard.bytes += message.body.byteLength;
      }
      return handler(message, delivery);
    });
  return new Proxy(bus, {
    get(target, name) {
      if (name === "subscribe") return subscribe;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
