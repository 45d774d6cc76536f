/**
 * An agent as a process of its own: `node agent-service.ts JSON`, see AgentOptions. Says "asked" on stdout once it has
 * begun, and when all its calls have ended one line of JSON: an AgentReport. What goes wrong with its connections
 * stands on stderr.
 */
import { connectBus } from "@rockbot/bus-rabbitmq";
import { openPolicy } from "@rockbot/policy";
import { startTelemetry } from "@rockbot/process/telemetry";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import { createToolCaller, DEFAULT_TIMEOUT_MS, type ToolCaller } from "@rockbot/tools";
import { openLedger } from "../effects/ledger-file.ts";
import { peakMemoryMb } from "../effects/peak-memory.ts";
import type { AgentOptions, AgentReport } from "./agent-options.ts";
import { type SettledCall, settleCall } from "./settle-calls.ts";

const options = JSON.parse(process.argv[2] ?? "{}") as AgentOptions;
const {
  busUrl,
  agent,
  tool,
  prefix,
  calls,
  perSecond,
  holdMs = 0,
  blockMs = 0,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  callers: width = 1,
  maxCallsInFlight,
  heartbeatSeconds,
  deployed,
} = options;
const say = (fields: object, text = "") => void process.stderr.write(`${text} ${JSON.stringify(fields)}\n`);
const log = { debug: () => {}, info: () => {}, warn: say, error: say };
await using stack = new AsyncDisposableStack();
const more = deployed === undefined ? {} : await openDeployed(deployed);
await using bus = await connectBus(busUrl, {
  name: agent,
  heartbeatSeconds,
  log,
  identity: deployed === undefined ? "trusted" : "verified",
});
const callers = await Promise.all(
  Array.from({ length: width }, async (_, index) =>
    stack.use(
      await createToolCaller(bus, { agent: width === 1 ? agent : `${agent}-${index}`, maxCallsInFlight, ...more }),
    ),
  ),
);
await Promise.all(callers.map((caller) => caller.discovered()));
const ledger = options.ledger === undefined ? undefined : stack.use(openLedger(options.ledger));

async function call(index: number): Promise<SettledCall> {
  const settled = await settleCall(
    callers[index % width] as ToolCaller,
    tool,
    { id: `${prefix}-${index}`, holdMs, blockMs },
    { timeoutMs },
  );
  if (settled.outcome === "ok") ledger?.write("received", settled.id);
  return settled;
}

async function callSteadily(rate: number): Promise<SettledCall[]> {
  const made: Promise<SettledCall>[] = [];
  const timer = setInterval(() => made.push(call(made.length)), 1_000 / rate);
  await new Promise((resolve) => process.once("SIGTERM", resolve));
  clearInterval(timer);
  return Promise.all(made);
}

const start = performance.now();
process.stdout.write("asked\n");
const settled =
  perSecond === undefined
    ? await Promise.all(Array.from({ length: calls ?? 0 }, (_, index) => call(index)))
    : await callSteadily(perSecond);
const report: AgentReport = { settled, ms: performance.now() - start, peakMb: peakMemoryMb() };
process.stdout.write(`${JSON.stringify(report)}\n`);

async function openDeployed({ policyFile, redis }: NonNullable<AgentOptions["deployed"]>) {
  stack.use(await startTelemetry({ service: agent, logTo: "stderr", logLevel: "error" }));
  return {
    policy: stack.use(await openPolicy(policyFile, { log })),
    journals: stack.use(await connectRedisJournalStore(redis.url, { prefix: redis.prefix, log })),
  };
}
