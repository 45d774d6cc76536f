import { exitOnConfigError, loadConfig } from "@rockbot/config";
import { exitOnCrash, onShutdown, serveHealth } from "@rockbot/service";
import { startTelemetry } from "@rockbot/telemetry";
import { checkOpenrouterMcpConfig } from "./check-openrouter-mcp-config.ts";
import { configSchema } from "./generated/config.ts";
import { startOpenrouterMcp } from "./openrouter-mcp.ts";

const config = exitOnConfigError(() => loadConfig(configSchema, { env: process.env, check: checkOpenrouterMcpConfig }));
using shutdown = onShutdown({ graceMs: config.shutdownGraceMs });
await using telemetry = await startTelemetry({ service: "openrouter-mcp", logLevel: config.logLevel });
const { log } = telemetry;
exitOnCrash(log);
await using _server = await startOpenrouterMcp(config, { log, signal: shutdown.signal });
await using _health = await serveHealth({
  port: config.healthPort,
  host: config.healthHost,
  ready: () => (shutdown.isRequested ? ["the server is stopping"] : true),
  metrics: () => telemetry.metricsText(),
});
log.info({}, "ready");
await shutdown.requested; // Then requests drain, spans are flushed.
