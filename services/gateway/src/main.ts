import { connectBus } from "@rockbot/bus-rabbitmq";
import { exitOnConfigError, loadConfig } from "@rockbot/config";
import { exitOnCrash, onShutdown, serveHealth } from "@rockbot/service";
import { startTelemetry } from "@rockbot/telemetry";
import { checkGatewayConfig } from "./check-gateway-config.ts";
import { startGateway } from "./gateway.ts";
import { configSchema } from "./generated/config.ts";

const config = exitOnConfigError(() => checkGatewayConfig(loadConfig(configSchema, { env: process.env })));
using shutdown = onShutdown({ graceMs: config.shutdownGraceMs });
await using telemetry = startTelemetry({ service: "gateway", logLevel: config.logLevel });
const { log, metricsText } = telemetry;
exitOnCrash(log);
await using bus = await connectBus(config.busUrl, { log });
await using gateway = await startGateway(bus, config, { log, signal: shutdown.signal });
await using _health = await serveHealth({ port: config.healthPort, host: config.healthHost, ready: () => gateway.notReady(), metrics: metricsText });
log.info({}, "ready");
await shutdown.requested; // Then requests drain, the bus closes, spans are flushed.
