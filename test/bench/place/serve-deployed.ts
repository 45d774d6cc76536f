import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { openPolicy } from "@rockbot/policy";
import { startTelemetry } from "@rockbot/process/telemetry";
import { openAuditLog } from "@rockbot/records/audit";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { connectRedisRateStore } from "@rockbot/records/rates/redis";
import { serveTools, type ToolSet } from "@rockbot/tools";
import { type Place, SERVICE_CONCURRENCY } from "../contender.ts";
import type { Part } from "./bench-policy.ts";

export interface ServeDeployedOptions {
  /** Its name, and its user at the broker. */
  readonly service: string;
  /** @default as many as a service of ours runs at once */
  readonly concurrency?: number;
  readonly without?: Part | undefined;
}

/**
 * Serves tools as docker-compose.yml has it: verified senders, an audit log, claims and rates in Redis, traces and
 * metrics to a collector.
 */
export async function serveDeployed(
  { amqpUrls, redisUrl, otlpUrl, policyFile, folder }: Place,
  tools: ToolSet,
  { service, concurrency = SERVICE_CONCURRENCY, without }: ServeDeployedOptions,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  if (without !== "export") process.env.OTEL_EXPORTER_OTLP_ENDPOINT = otlpUrl;
  const { log } = stack.use(await startTelemetry({ service, logTo: "stderr" }));
  const policy = stack.use(await openPolicy(policyFile, { log }));
  const auditFile = join(await mkdtemp(join(folder, "audit-")), "audit.jsonl");
  const audit = without === "audit" ? undefined : stack.use(await openAuditLog(auditFile, { log }));
  const claims = without === "claims" ? undefined : stack.use(await connectRedisClaimStore(redisUrl));
  const rates = stack.use(await connectRedisRateStore(redisUrl));
  const bus = stack.use(await connectBus(amqpUrls[service] ?? "", { identity: "verified", log }));
  stack.use(await serveTools(bus, tools, { service, concurrency, policy, audit, claims, rates, log }));
  return stack.move();
}
