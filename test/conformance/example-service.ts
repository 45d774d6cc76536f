import { setTimeout as sleep } from "node:timers/promises";
import type { Bus, Handler } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { DEAD_LETTER_EXCHANGE, type PlannedQueue, serviceQueues } from "@rockbot/bus-rabbitmq/queue-plan";
import type { ServiceProcess } from "@rockbot/conformance";
import { newId, type ToolDefinition, type Validator } from "@rockbot/contracts";
import { startTcpFaultProxy, type TcpFaultProxy } from "@rockbot/testing";
import { defineTool, serveTools, type Tool } from "@rockbot/tools";
import { Ajv } from "ajv";
import { openRawChannel } from "../broker/raw-channel.ts";
import type { Fault } from "./faults.ts";

const inputSchema = {
  type: "object",
  additionalProperties: false,
  required: ["ms"],
  properties: { ms: { type: "integer", minimum: 0, maximum: 60_000 } },
};

/** Waits, reports progress, and gives another result each time, which tells two runs of one call apart. */
function countTool({ takesAnyArguments = false }: Fault): Tool {
  const definition: ToolDefinition = {
    name: "count",
    description: "Waits for so many milliseconds, and counts its runs.",
    inputSchema,
    readOnly: false,
    idempotent: false,
    validateInput: new Ajv({ allErrors: true }).compile(
      takesAnyArguments ? { type: "object" } : inputSchema,
    ) as Validator<unknown>,
  };
  return defineTool(definition, async (input, { signal, progress }) => {
    progress({ message: "begun" });
    await sleep((input as { readonly ms?: number }).ms ?? 0, undefined, { signal });
    progress({ message: "done" });
    return `run ${newId()}`;
  });
}

/**
 * A service over RabbitMQ in this process that can be started, stopped, and killed as a process is, and that may have a
 * fault.
 */
export function exampleService(url: string, service: string, fault: Fault): ServiceProcess & AsyncDisposable {
  let running: { readonly proxy: TcpFaultProxy; readonly bus: Bus; tools?: AsyncDisposable } | undefined;
  const ending: Promise<unknown>[] = [];

  async function kill(): Promise<void> {
    const killed = running;
    running = undefined;
    if (killed === undefined) return;
    await killed.proxy[Symbol.asyncDispose](); // nothing that it says or does from here on reaches anybody
    ending.push(killed.bus[Symbol.asyncDispose]().then(() => killed.tools?.[Symbol.asyncDispose]()));
  }

  return {
    async start() {
      const proxy = await startTcpFaultProxy(url);
      const bus = await connectBus(proxy.through(url), { drainMs: 100 });
      running = { proxy, bus };
      running.tools = await serveTools(
        withFault(bus, fault, kill),
        { tools: [countTool(fault)], guides: [] },
        { service },
      );
      if (fault.lacksArguments !== undefined) await replaceParked(url, service, fault.lacksArguments);
    },
    kill,
    async stop() {
      const stopped = running;
      running = undefined;
      await stopped?.tools?.[Symbol.asyncDispose]();
      await stopped?.bus[Symbol.asyncDispose]();
      await stopped?.proxy[Symbol.asyncDispose]();
      return 0;
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await Promise.allSettled(ending);
    },
  };
}

/** The bus, with the fault between it and the service. */
function withFault(
  bus: Bus,
  { sends = (message) => [message], takes = (next) => next }: Fault,
  kill: () => Promise<void>,
): Bus {
  const handled = new Set<Promise<unknown>>();
  return {
    traits: bus.traits,
    get isReady() {
      return bus.isReady;
    },
    get isBlocked() {
      return bus.isBlocked;
    },
    publish: async (message, options) => {
      for (const sent of sends(message)) await bus.publish(sent, options);
    },
    async subscribe(options, handler) {
      const { kind = "service" } = options;
      const counted: Handler = async (message, delivery) => {
        const run = handler(message, delivery);
        handled.add(run);
        await run.finally(() => handled.delete(run));
      };
      const taken = takes(counted, kind, { kill });
      const subscription = await bus.subscribe(options, taken);
      return {
        async [Symbol.asyncDispose]() {
          await subscription[Symbol.asyncDispose]();
          await Promise.allSettled(handled); // a service that has acknowledged early still ends what it runs
        },
      };
    },
    inspect: (name, part) => bus.inspect(name, part),
    visitParked: (name, visit, options) => bus.visitParked(name, visit, options),
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  };
}

/** Puts a queue of parked messages without some of its arguments in the place of the one that the bus has declared. */
async function replaceParked(url: string, service: string, lacking: readonly string[]): Promise<void> {
  await using raw = await openRawChannel(url);
  const parked = serviceQueues(service).find(({ part }) => part === "parked") as PlannedQueue;
  const left = Object.entries(parked.arguments).filter(([name]) => !lacking.includes(name));
  await raw.channel.deleteQueue(parked.name);
  await raw.channel.assertQueue(parked.name, { durable: true, arguments: Object.fromEntries(left) });
  for (const key of parked.deadLetterKeys) await raw.channel.bindQueue(parked.name, DEAD_LETTER_EXCHANGE, key);
}
