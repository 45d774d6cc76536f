import { context, diag, logs, metrics, propagation, trace } from "@opentelemetry/api";
import { getStringListFromEnv } from "@opentelemetry/core";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { within } from "@rockbot/base";
import { registerSecret } from "@rockbot/base/redaction";
import { isCollectorFound } from "./is-collector-found.ts";
import { isExported } from "./is-exported.ts";
import { createLog, type Log, type LogLevel } from "./log/create-log.ts";
import { logDestination } from "./log/log-destination.ts";
import { formatFor, type LogFormat } from "./log/log-format.ts";
import { reportFaults } from "./log/report-faults.ts";
import { processMetrics } from "./metrics/process-metrics.ts";
import { startLocal } from "./start-local.ts";
import { Durations } from "./tallies/durations.ts";
import { traceOutgoingRequests } from "./traces/outgoing-requests.ts";

/** The name of a process in its telemetry, and the form of its log. */
export interface StartTelemetryOptions {
  /** The service's name in logs, metrics and traces; `OTEL_SERVICE_NAME` beats it in metrics and traces. */
  readonly service: string;
  readonly version?: string | undefined;
  /** @default "info" */
  readonly logLevel?: LogLevel | undefined;
  /** A command whose result is its standard output logs to "stderr". @default "stdout" */
  readonly logTo?: "stdout" | "stderr" | undefined;
  /** @default "text" if the log goes to a terminal, else "json" */
  readonly logFormat?: LogFormat | undefined;
  /** The share of traces that begin here and are recorded, from 0 to 1, while there are few. @default 1 */
  readonly traceRatio?: number | undefined;
}

/**
 * The telemetry of a process. Disposal flushes it, for at most two seconds; the log stays usable. An export that is
 * given up keeps the process alive until its own `OTEL_EXPORTER_OTLP_TIMEOUT`, by default ten seconds.
 */
export interface Telemetry extends AsyncDisposable {
  readonly log: Log;
  /** All metrics as Prometheus text: those made with `@opentelemetry/api`, and the process's own. */
  metricsText(): Promise<string>;
}

const FLUSH_MS = 2000;

/**
 * Connects `@opentelemetry/api` to the SDK for the whole process, and makes the log. Everything has trace ids. Spans
 * and metrics are exported if the standard `OTEL_EXPORTER_OTLP_*` variables say where to, and with `OTLP_IF_FOUND=true`
 * only if that is found at the start. The SDK reads them and all other `OTEL_*` variables from the environment.
 * `OTEL_SDK_DISABLED=true` leaves the log and the process's metrics. A process starts one at a time, before the code
 * that it observes: an instrument that is made earlier records nothing.
 */
export async function startTelemetry({
  service,
  version,
  logLevel,
  logTo = "stdout",
  logFormat,
  traceRatio,
}: StartTelemetryOptions): Promise<Telemetry> {
  registerCollectorHeaders();
  const log = createLog(logDestination(logTo), {
    service,
    version,
    level: logLevel,
    format: formatFor(process[logTo], logFormat),
  });
  reportFaults(log);
  const durations = new Durations();
  const producers = [processMetrics(), durations];
  const reader = new PrometheusExporter({ preventServerStart: true, metricProducers: producers });
  const outgoing = traceOutgoingRequests();
  const isAnythingExported = (isExported("TRACES") || isExported("METRICS")) && (await isCollectorFound());
  const sdk = isAnythingExported
    ? (await import("./start-export.ts")).startExport({
        service,
        version,
        reader,
        producers,
        durations,
        outgoing,
        traceRatio,
      })
    : startLocal({ reader, durations, outgoing });
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);

  let stopped: Promise<void> | undefined;
  return {
    log,
    async metricsText() {
      const { resourceMetrics } = await reader.collect({ timeoutMillis: FLUSH_MS });
      return serializer.serialize(resourceMetrics);
    },
    async [Symbol.asyncDispose]() {
      stopped ??= stop();
      await stopped;
    },
  };

  async function stop(): Promise<void> {
    outgoing.disable();
    try {
      await within(FLUSH_MS, sdk.shutdown(), () => new Error(`The collector has not taken it in ${FLUSH_MS} ms`));
    } catch (error) {
      log.warn({ reason: (error as Error).message }, "lost the last telemetry");
    }
    for (const api of [trace, metrics, logs, context, propagation, diag]) api.disable();
  }
}

/** The headers by which the SDK shows a collector who it is, `name=value,…` with the values encoded as in a URL. */
function registerCollectorHeaders(): void {
  for (const signal of ["", "TRACES_", "METRICS_"]) {
    for (const header of getStringListFromEnv(`OTEL_EXPORTER_OTLP_${signal}HEADERS`) ?? []) {
      const value = header.slice(header.indexOf("=") + 1).trim();
      // A scheme before the secret, as in `Bearer%20…`, is no part of it.
      for (const part of decoded(value).split(/\s+/)) registerSecret(part);
    }
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
