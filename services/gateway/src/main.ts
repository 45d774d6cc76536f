import { createMemoryBus } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { exitOnConfigError, loadConfig } from "@rockbot/config";
import { openPolicy } from "@rockbot/policy";
import { exitOnCrash, onShutdown, serveHealth } from "@rockbot/service";
import { startTelemetry } from "@rockbot/telemetry";
import { checkGatewayConfig } from "./check-gateway-config.ts";
import { startGateway } from "./gateway.ts";
import { configSchema } from "./generated/config.ts";

const load = () => loadConfig(configSchema, { env: process.env, check: checkGatewayConfig });
const config = exitOnConfigError(load);
using shutdown = onShutdown({ graceMs: config.shutdownGraceMs });
await using telemetry = await startTelemetry({ service: "gateway", logLevel: config.logLevel });
const { log } = telemetry;
exitOnCrash(log);
if (config.busUrl === "memory:") log.warn({}, "The bus is in this process's memory, where no other service can join: set BUS_URL to amqp://…");
await using policy = await exitOnConfigError(() => openPolicy(config.policyFile, { log }));
const { identity } = policy.current().document;
// The address is read again for each connection: the file of BUS_URL_FILE may hold another password by then.
await using bus = config.busUrl === "memory:" ? createMemoryBus({ log }) : await connectBus(() => load().busUrl, { name: "gateway", identity, log });
await using journals =
  config.redisUrl === undefined ? undefined : await (await import("@rockbot/journal/redis")).connectRedisJournalStore(config.redisUrl, { log });
await using gateway = await startGateway(bus, config, { log, journals, policy, signal: shutdown.signal });
await using _health = await serveHealth({
  port: config.healthPort,
  host: config.healthHost,
  ready: () => gateway.notReady(),
  metrics: () => telemetry.metricsText(),
});
log.info({}, "ready");
await shutdown.requested; // Then requests drain, the bus closes, spans are flushed.
