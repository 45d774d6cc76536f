import { ToolError } from "@rockbot/contracts";
import { exitOnConfigError } from "@rockbot/process/config";
import { type Log, type LogFormat, type LogLevel, logConsole, startTelemetry } from "../../telemetry/index.ts";
import { exitOnCrash } from "../exit-on-crash.ts";
import { onShutdown } from "../on-shutdown.ts";
import { serveHealth } from "../serve-health.ts";
import { currentSettings } from "./current-settings.ts";

/** Settings of every process. */
export interface ServiceConfig {
  readonly shutdownGraceMs: number;
  readonly logLevel: LogLevel;
  readonly logFormat?: LogFormat | undefined;
  readonly traceRatio: number;
  readonly healthPort?: number | undefined;
  readonly healthHost: string;
}

/** The name of a service, its settings and its start. */
export interface RunServiceOptions<Config, Parts> {
  /** Its name in logs, metrics and traces. */
  readonly service: string;
  /** Reads the configuration. A ConfigError ends the process with code 2. */
  readonly load: () => Config;
  /**
   * Starts the work of the process, and returns the running service. Disposal of that drains. An error is logged in one
   * line, and ends the process with code 1.
   */
  readonly start: (parts: Parts) => Promise<AsyncDisposable>;
}

/** The parts that a service is started with. */
export interface ServiceParts<Config> {
  readonly config: Config;
  /** The settings as they are now: a secret in a file may have changed. */
  readonly current: () => Config;
  readonly log: Log;
  /** Aborts when the grace after the first signal is over. */
  readonly signal: AbortSignal;
  /** Aborts at the first signal: what waits in the start gives up. */
  readonly stopping: AbortSignal;
  /** Takes in what is disposed of after the service has drained, the newest first. */
  readonly stack: AsyncDisposableStack;
  /** Adds a reason why the service cannot take work, as long as `reason` gives one. */
  readonly unreadyWhile: (reason: () => string | undefined) => void;
}

/**
 * The life of a service's process: configuration, telemetry, the service and its health, until SIGTERM or SIGINT. Then
 * the service drains, and its parts end in the opposite order. For a `main.ts` only, as its one statement.
 */
export async function runService<Config extends ServiceConfig>({
  service,
  load,
  start,
}: RunServiceOptions<Config, ServiceParts<Config>>): Promise<void> {
  const config = exitOnConfigError(load);
  using shutdown = onShutdown({ graceMs: config.shutdownGraceMs });
  await using telemetry = await startTelemetry({ service, ...telemetryOf(config) });
  const { log } = telemetry;
  exitOnCrash(log);
  logConsole(log);
  const reasons = [(): string | undefined => (shutdown.isRequested ? "the process is stopping" : undefined)];
  const stopping = new AbortController();
  void shutdown.requested.then(() => stopping.abort());
  await using stack = new AsyncDisposableStack();
  try {
    const current = currentSettings(config, load, { log });
    stack.use(
      await start({
        config,
        current,
        log,
        signal: shutdown.signal,
        stopping: stopping.signal,
        stack,
        unreadyWhile: (reason) => reasons.push(reason),
      }),
    );
  } catch (error) {
    if (shutdown.isRequested) return void log.info({ reason: String(error) }, "stopped before it was ready");
    const fields =
      error instanceof ToolError ? { code: error.code, reason: error.message, details: error.details } : { err: error };
    log.error(fields, "the service cannot start");
    process.exitCode = 1;
    return;
  }
  await using _health = await serveHealth({
    port: config.healthPort,
    host: config.healthHost,
    ready: () => reasons.flatMap((reason) => reason() ?? []),
    metrics: () => telemetry.metricsText(),
  });
  log.info({}, "ready");
  await shutdown.requested;
}

const telemetryOf = ({ logLevel, logFormat, traceRatio }: ServiceConfig) => ({ logLevel, logFormat, traceRatio });
