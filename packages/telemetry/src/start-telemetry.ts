import { context, diag, metrics, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { getBooleanFromEnv, W3CTraceContextPropagator } from "@opentelemetry/core";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from "@opentelemetry/resources";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { TracerProvider } from "@opentelemetry/sdk-trace";
import { within } from "@rockbot/async";
import { createLog, type Log, type LogLevel } from "./create-log.ts";
import { logDestination } from "./log-destination.ts";
import { otlpReaders, spanProcessors, unsupportedProtocol } from "./otlp-export.ts";
import { traceOutgoingRequests } from "./outgoing-requests.ts";
import { processMetrics } from "./process-metrics.ts";
import { reportFaults } from "./report-faults.ts";
import { traceSampler } from "./trace-sampler.ts";
import { views } from "./views.ts";

export interface StartTelemetryOptions {
  /** The service's name in logs, metrics and traces; `OTEL_SERVICE_NAME` beats it in metrics and traces. */
  readonly service: string;
  readonly version?: string | undefined;
  /** @default "info" */
  readonly logLevel?: LogLevel | undefined;
  /** A command whose result is its standard output logs to "stderr". @default "stdout" */
  readonly logTo?: "stdout" | "stderr" | undefined;
}

/** What a process reports about itself. Disposal flushes, for at most two seconds; the log goes on to work. */
export interface Telemetry extends AsyncDisposable {
  readonly log: Log;
  /** All metrics as Prometheus text: those made with `@opentelemetry/api`, and the process's own. */
  metricsText(): Promise<string>;
}

const FLUSH_MS = 2000;
/** The longest text in a span, which would otherwise carry whatever a page or a model put into an attribute. */
const MAX_ATTRIBUTE_CHARACTERS = 4096;

/**
 * Connects `@opentelemetry/api`, for the whole process, to the SDK, and makes the log. Everything has trace ids; spans and
 * metrics are exported if the standard `OTEL_EXPORTER_OTLP_*` variables say where to. The standard variables are read
 * from the process's environment, as the SDK's own parts do. `OTEL_SDK_DISABLED=true` leaves the log and the process's
 * metrics. One at a time in a process, and started before what it observes: an instrument that is made earlier records
 * nothing.
 */
export function startTelemetry({ service, version, logLevel, logTo = "stdout" }: StartTelemetryOptions): Telemetry {
  const log = createLog(logDestination(logTo), { service, version, level: logLevel });
  reportFaults(log);
  const isDisabled = getBooleanFromEnv("OTEL_SDK_DISABLED");
  const resource = describeProcess(service, version);
  const producer = processMetrics();

  const prometheus = new PrometheusExporter({ preventServerStart: true, metricProducers: [producer] });
  const meters = new MeterProvider({ resource, views, readers: [prometheus, ...(isDisabled ? [] : otlpReaders(producer))] });
  const sampler = traceSampler();
  const tracers = new TracerProvider({
    resource,
    spanProcessors: isDisabled ? [] : spanProcessors(),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_CHARACTERS },
    ...(sampler === undefined ? {} : { sampler }),
  });
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);

  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  if (!isDisabled) {
    metrics.setGlobalMeterProvider(meters);
    trace.setGlobalTracerProvider(tracers);
  }
  const outgoing = traceOutgoingRequests();
  const protocol = isDisabled ? undefined : unsupportedProtocol();
  if (protocol !== undefined) {
    log.warn(
      { protocol },
      "Telemetry is exported over HTTP, not over the protocol that OTEL_EXPORTER_OTLP_PROTOCOL names: the endpoint must be the collector's HTTP port",
    );
  }

  let stopped: Promise<void> | undefined;
  return {
    log,
    async metricsText() {
      const { resourceMetrics } = await prometheus.collect({ timeoutMillis: FLUSH_MS });
      return serializer.serialize(resourceMetrics);
    },
    async [Symbol.asyncDispose]() {
      stopped ??= stop();
      await stopped;
    },
  };

  async function stop(): Promise<void> {
    outgoing.disable();
    const flushed = Promise.all([tracers.shutdown(), meters.shutdown()]);
    try {
      await within(FLUSH_MS, flushed, () => new Error(`The collector has not taken it in ${FLUSH_MS} ms`));
    } catch (error) {
      log.warn({ reason: (error as Error).message }, "The last telemetry is lost");
    }
    for (const api of [trace, metrics, context, propagation, diag]) api.disable();
  }
}

function describeProcess(service: string, version: string | undefined): Resource {
  const own = resourceFromAttributes({
    "service.name": service,
    ...(version === undefined ? {} : { "service.version": version }),
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }));
}
