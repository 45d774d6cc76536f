import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { openPolicy } from "@rockbot/policy";
import { startTelemetry } from "@rockbot/process/telemetry";
import { openAuditLog } from "@rockbot/records/audit";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import { connectRedisRateStore } from "@rockbot/records/rates/redis";
import { serveTools } from "@rockbot/tools";
import type { Caller, Place } from "../contender.ts";
import { DEPLOYED_AGENT, DEPLOYED_SERVICE, DEPLOYED_TOOL } from "../place/bench-policy.ts";
import { echoSet } from "./echo-tool.ts";
import { connectToolCaller } from "./tool-caller.ts";

/** As in docker-compose.yml: verified senders, an audit log, claims, rates and the caller's journal in Redis, traces and metrics to a collector. */
export async function serve({ amqpUrls, redisUrl, otlpUrl, policyFile, folder }: Place): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = otlpUrl;
  const { log } = stack.use(await startTelemetry({ service: DEPLOYED_SERVICE, logTo: "stderr" }));
  const policy = stack.use(await openPolicy(policyFile, { log }));
  const audit = stack.use(await openAuditLog(join(await mkdtemp(join(folder, "audit-")), "audit.jsonl"), { log }));
  const claims = stack.use(await connectRedisClaimStore(redisUrl));
  const rates = stack.use(await connectRedisRateStore(redisUrl));
  const bus = stack.use(await connectBus(amqpUrls[DEPLOYED_SERVICE] ?? "", { identity: "verified", log }));
  stack.use(await serveTools(bus, echoSet(DEPLOYED_TOOL, { readOnly: false }), { service: DEPLOYED_SERVICE, policy, audit, claims, rates, log }));
  return stack.move();
}

export async function connect({ amqpUrls, redisUrl, otlpUrl, policyFile }: Place): Promise<Caller> {
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = otlpUrl;
  const { log } = await startTelemetry({ service: DEPLOYED_AGENT, logTo: "stderr" });
  const policy = await openPolicy(policyFile, { log });
  const journals = await connectRedisJournalStore(redisUrl);
  const bus = await connectBus(amqpUrls[DEPLOYED_AGENT] ?? "", { identity: "verified", log });
  return connectToolCaller(bus, DEPLOYED_TOOL, { agent: DEPLOYED_AGENT, policy, journals });
}
