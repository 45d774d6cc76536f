import { setTimeout as sleep } from "node:timers/promises";
import { type Bus, createMemoryBus } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { newId, type ToolDefinition, ToolError, type Validator } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { createToolCaller, defineTool, serveTools, type ToolCaller } from "@rockbot/tools";

/**
 * The service bears 8 calls at once of 200 ms each, 40 a second; the flood alone asks for more. Few, so that no
 * processor is busy with them.
 */
const CONCURRENCY = 8;
const CALL_MS = 200;
const FLOOD_PER_SECOND = 60;
const QUIET_PER_SECOND = 5;

/** Leaves the flood a part of the service, whatever it asks for. */
export const FLOOD_POLICY =
  "everyone: { allow: ['*'] }\ncallers: { flood: { limits: { callsPerSecond: 10, inFlight: 4 } } }";

export interface FloodOptions {
  readonly openBuses: () => Promise<FloodBuses>;
  readonly isFlooded: boolean;
  /** @default none: nobody is held */
  readonly policy?: string | undefined;
  readonly seconds: number;
}

/** What the service and its callers are connected to. */
export interface FloodBuses extends AsyncDisposable {
  readonly service: Bus;
  readonly quiet: Bus;
  readonly flood: Bus;
}

export async function inOneProcess(): Promise<FloodBuses> {
  const bus = createMemoryBus();
  return { service: bus, quiet: bus, flood: bus, [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose]() };
}

export async function overBroker(url: string): Promise<FloodBuses> {
  await using stack = new AsyncDisposableStack();
  const connect = async (name: string) => stack.use(await connectBus(url, { name }));
  const buses = { service: await connect("service"), quiet: await connect("quiet"), flood: await connect("flood") };
  const open = stack.move();
  return { ...buses, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

export interface FloodOutcome {
  /** How long the quiet caller's calls took, in milliseconds, in order. */
  readonly quietMs: readonly number[];
  /** How the quiet caller's calls ended, each once: `ok` or a code. */
  readonly quietEnds: readonly string[];
  /** The errors that the flood's calls ended in. */
  readonly floodErrors: readonly ToolError[];
  readonly floodAnswered: number;
}

/** One caller makes 5 calls a second, another perhaps 60, of one service; all in this process. */
export async function runFlood({ openBuses, isFlooded, policy = "", seconds }: FloodOptions): Promise<FloodOutcome> {
  const service = `flood-${newId().slice(0, 8)}`;
  const tool = `hold_${service.slice(6)}`;
  await using buses = await openBuses();
  const held = holdPolicy(createPolicy(await readPolicy(policy, "flood")));
  const set = { tools: [holdTool(tool)], guides: [{ name: service, summary: "Holds.", document: "# Hold" }] };
  await using _service = await serveTools(buses.service, set, {
    service,
    concurrency: CONCURRENCY,
    policy: held,
    drainMs: 1_000,
  });
  await using quiet = await createToolCaller(buses.quiet, { agent: "quiet", results: "copy" });
  await using flood = await createToolCaller(buses.flood, {
    agent: "flood",
    results: "copy",
    maxCallsInFlight: 20_000,
  });
  await Promise.all([quiet.discovered(), flood.discovered()]);
  await quiet.call(tool, {}); // the first finds its way

  const quietMs: number[] = [];
  const quietEnds: string[] = [];
  const floodErrors: ToolError[] = [];
  let floodAnswered = 0;
  const over = new AbortController();
  const flooding = isFlooded
    ? atRate(FLOOD_PER_SECOND, seconds, () =>
        flood.call(tool, {}, { signal: over.signal }).then(
          () => void floodAnswered++,
          (error: unknown) =>
            void (error instanceof ToolError && error.code !== "cancelled" && floodErrors.push(error)),
        ),
      )
    : Promise.resolve();
  await atRate(QUIET_PER_SECOND, seconds, async () => {
    const start = performance.now();
    quietEnds.push(await endOf(quiet, tool));
    quietMs.push(performance.now() - start);
  });
  over.abort(); // what the flood has still out is of no interest
  await flooding;
  return { quietMs: quietMs.sort((a, b) => a - b), quietEnds, floodErrors, floodAnswered };
}

const endOf = (caller: ToolCaller, tool: string): Promise<string> =>
  caller.call(tool, {}).then(
    () => "ok",
    ({ code }: { code: string }) => code,
  );

/** Starts something so often for so long, and waits for all of it. */
async function atRate(perSecond: number, seconds: number, step: () => Promise<void>): Promise<void> {
  const start = performance.now();
  const running: Promise<void>[] = [];
  while (running.length < perSecond * seconds) {
    const due = Math.min(perSecond * seconds, Math.floor(((performance.now() - start) / 1_000) * perSecond) + 1);
    while (running.length < due) running.push(step());
    await sleep(2);
  }
  await Promise.all(running);
}

function holdTool(name: string) {
  const definition: ToolDefinition = {
    name,
    description: "Takes its time.",
    inputSchema: { type: "object" },
    readOnly: true,
    idempotent: true,
    validateInput: (() => true) as unknown as Validator<unknown>,
  };
  return defineTool(definition, async (_, { signal }) => {
    await sleep(CALL_MS, undefined, { signal });
    return "done";
  });
}
