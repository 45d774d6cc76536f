/**
 * The tools of effect-tools.ts as a process of their own: `node effect-service.ts JSON`, see EffectServiceOptions. Says
 * "ready" on stdout, and at its end how much memory it has had.
 */

import { createPublicKey } from "node:crypto";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createPolicy, holdPolicy, openPolicy, readPolicy } from "@rockbot/policy";
import { onShutdown } from "@rockbot/process";
import { startTelemetry } from "@rockbot/process/telemetry";
import { openAuditLog } from "@rockbot/records/audit";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { connectRedisRateStore } from "@rockbot/records/rates/redis";
import { connectRedisRunStore } from "@rockbot/runs/redis";
import { serveTools } from "@rockbot/tools";
import { killBus } from "../kills/kill-bus.ts";
import { KillSwitch } from "../kills/kill-point.ts";
import type { EffectServiceOptions } from "./effect-service-options.ts";
import { effectTools } from "./effect-tools.ts";
import { openLedger } from "./ledger-file.ts";
import { peakMemoryMb } from "./peak-memory.ts";

const {
  busUrl,
  redis,
  service,
  ledger: path,
  deployed,
  concurrency,
  heartbeatSeconds,
  queueVersions,
  killAt,
  killCalls = 1,
  isFast = false,
  waiting,
} = JSON.parse(process.argv[2] ?? "{}") as EffectServiceOptions;
const say = (fields: object, text = "") => void process.stderr.write(`${text} ${JSON.stringify(fields)}\n`);
const log = { debug: () => {}, info: say, warn: say, error: say };

using shutdown = onShutdown({ graceMs: 20_000 });
using ledger = openLedger(path);
const killSwitch = new KillSwitch({ at: killAt, calls: killCalls });
await using claims =
  redis === undefined ? undefined : await connectRedisClaimStore(redis.url, { prefix: redis.prefix, log });
await using stack = new AsyncDisposableStack();
const more = deployed === undefined ? {} : await openDeployed(deployed);
await using bus = await connectBus(busUrl, {
  name: service,
  heartbeatSeconds,
  queueVersions,
  log,
  identity: deployed === undefined ? "trusted" : "verified",
});
await using _tools = await serveTools(
  killBus(bus, { service, killSwitch, onAnswered: (id) => ledger.write("answered", id) }),
  {
    tools: effectTools({
      killSwitch,
      onEffect: (id) => ledger.write("effect", id),
      onAborted: (id) => ledger.write("aborted", id),
    }).map((tool) => ({
      ...tool,
      definition: { ...tool.definition, fast: isFast, name: `${tool.definition.name}_${service}` },
    })),
    guides: [{ name: service, summary: "For tests.", document: "# Tests" }],
  },
  { service, concurrency, claims, log, ...more, ...(await openWaiting()) },
);
process.stdout.write("ready\n");
await shutdown.requested;
process.stdout.write(`${peakMemoryMb()} MB\n`);

async function openWaiting() {
  if (waiting === undefined || redis === undefined) return {};
  return {
    policy: holdPolicy(createPolicy(await readPolicy(waiting.policy, "of the test"))),
    operatorKey: createPublicKey(waiting.operatorKey),
    runs: stack.use(await connectRedisRunStore(redis.url, { ...redis, log })),
  };
}

async function openDeployed({ policyFile, auditFile }: NonNullable<EffectServiceOptions["deployed"]>) {
  stack.use(await startTelemetry({ service, logTo: "stderr", logLevel: "error" }));
  return {
    policy: stack.use(await openPolicy(policyFile, { log })),
    audit: stack.use(await openAuditLog(auditFile, { log })),
    rates:
      redis === undefined
        ? undefined
        : stack.use(await connectRedisRateStore(redis.url, { prefix: redis.prefix, log })),
  };
}
