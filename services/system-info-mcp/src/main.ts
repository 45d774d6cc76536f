import { exitOnConfigError, loadConfig } from "@rockbot/config";
import { exitOnCrash, onShutdown, serveHealth } from "@rockbot/service";
import { startTelemetry } from "@rockbot/telemetry";
import { checkSystemInfoMcpConfig } from "./check-system-info-mcp-config.ts";
import { configSchema } from "./generated/config.ts";
import { startSystemInfoMcp } from "./system-info-mcp.ts";

const config = exitOnConfigError(() => loadConfig(configSchema, { env: process.env, check: checkSystemInfoMcpConfig }));
using shutdown = onShutdown({ graceMs: config.shutdownGraceMs });
await using telemetry = await startTelemetry({ service: "system-info-mcp", logLevel: config.logLevel });
const { log } = telemetry;
exitOnCrash(log);
await using _server = await startSystemInfoMcp(config, { runtime: process, log, signal: shutdown.signal });
await using _health = await serveHealth({
  port: config.healthPort,
  host: config.healthHost,
  ready: () => (shutdown.isRequested ? ["the server is stopping"] : true),
  metrics: () => telemetry.metricsText(),
});
log.info({}, "ready");
await shutdown.requested; // Then requests drain, spans are flushed.
