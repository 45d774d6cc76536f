import { openAuditLog } from "@rockbot/audit";
import { createMemoryBus } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { exitOnConfigError, loadConfig } from "@rockbot/config";
import { MCP_BRIDGE } from "@rockbot/contracts";
import { openPolicy } from "@rockbot/policy";
import { exitOnCrash, onShutdown, serveHealth } from "@rockbot/service";
import { startTelemetry } from "@rockbot/telemetry";
import { checkMcpBridgeConfig } from "./check-mcp-bridge-config.ts";
import { configSchema } from "./generated/config.ts";
import { startMcpBridge } from "./mcp-bridge.ts";
import { readServers } from "./servers/read-servers.ts";

const load = () => loadConfig(configSchema, { env: process.env, check: checkMcpBridgeConfig });
const config = exitOnConfigError(() => {
  const loaded = load();
  if (loaded.mcpConfig !== undefined) readServers(loaded.mcpConfig, process.env); // its faults end the process like the others
  return loaded;
});
using shutdown = onShutdown({ graceMs: config.shutdownGraceMs });
await using telemetry = await startTelemetry({ service: MCP_BRIDGE, logLevel: config.logLevel });
const { log } = telemetry;
exitOnCrash(log);
if (config.busUrl === "memory:") log.warn({}, "The bus is in this process's memory, where nobody can call: set BUS_URL to amqp://…");
await using policy = await exitOnConfigError(() => openPolicy(config.policyFile, { log }));
const { identity } = policy.current().document;
await using audit = config.auditFile === undefined ? undefined : await openAuditLog(config.auditFile, { log });
// The address is read again for each connection: the file of BUS_URL_FILE may hold another password by then.
await using bus = config.busUrl === "memory:" ? createMemoryBus({ log }) : await connectBus(() => load().busUrl, { name: MCP_BRIDGE, identity, log });
await using claims = config.redisUrl === undefined ? undefined : await (await import("@rockbot/claims/redis")).connectRedisClaimStore(config.redisUrl, { log });
await using rates = config.redisUrl === undefined ? undefined : await (await import("@rockbot/rates/redis")).connectRedisRateStore(config.redisUrl, { log });
await using leases = config.redisUrl === undefined ? undefined : await (await import("@rockbot/leases/redis")).connectRedisLeaseStore(config.redisUrl, { log });
await using trustStore =
  config.redisUrl === undefined ? undefined : await (await import("@rockbot/mcp-trust/redis")).connectRedisTrustStore(config.redisUrl, { log });
await using _bridge = await startMcpBridge(bus, config, { env: process.env, audit, log, policy, claims, leases, rates, trustStore, signal: shutdown.signal });
await using _health = await serveHealth({
  port: config.healthPort,
  host: config.healthHost,
  ready: () => (bus.isReady ? true : ["the bus is away"]),
  metrics: () => telemetry.metricsText(),
});
log.info({}, "ready");
await shutdown.requested; // Then calls drain, the servers end, the bus closes, spans are flushed.
