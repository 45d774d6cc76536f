import { getNumberFromEnv, getStringFromEnv } from "@opentelemetry/core";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { type IMetricReader, type MetricProducer, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, type SpanProcessor } from "@opentelemetry/sdk-trace";

/** How long an export may take, retries included; an export that is under way at the end holds up the process so long. */
const EXPORT_TIMEOUT_MS = 5000;
const METRIC_INTERVAL_MS = 60_000;

type Signal = "TRACES" | "METRICS";

/**
 * Exports spans as OTLP over HTTP in JSON, if `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is
 * set and `OTEL_TRACES_EXPORTER` does not name another exporter. Headers, certificates and compression are read by the
 * exporter from its standard variables.
 */
export function spanProcessors(): SpanProcessor[] {
  if (!exports("TRACES")) return [];
  return [
    new BatchSpanProcessor({
      exporter: new OTLPTraceExporter({ timeoutMillis: timeoutMs("TRACES") }),
      ...optional("maxQueueSize", getNumberFromEnv("OTEL_BSP_MAX_QUEUE_SIZE")),
      ...optional("maxExportBatchSize", getNumberFromEnv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE")),
      ...optional("scheduledDelayMillis", getNumberFromEnv("OTEL_BSP_SCHEDULE_DELAY")),
    }),
  ];
}

/** The same for metrics, every `OTEL_METRIC_EXPORT_INTERVAL` milliseconds. */
export function otlpReaders(producer: MetricProducer): IMetricReader[] {
  if (!exports("METRICS")) return [];
  const exportIntervalMillis = getNumberFromEnv("OTEL_METRIC_EXPORT_INTERVAL") ?? METRIC_INTERVAL_MS;
  return [
    new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter({ timeoutMillis: timeoutMs("METRICS") }),
      metricProducers: [producer],
      exportIntervalMillis,
      exportTimeoutMillis: Math.min(exportIntervalMillis, timeoutMs("METRICS")),
    }),
  ];
}

/** The protocol that is asked for and not spoken here, if any. Protobuf's receivers take JSON at the same address; gRPC's do not. */
export function unsupportedProtocol(): string | undefined {
  if (!exports("TRACES") && !exports("METRICS")) return undefined;
  const protocol = getStringFromEnv("OTEL_EXPORTER_OTLP_PROTOCOL")?.trim();
  return protocol === undefined || protocol.startsWith("http/") ? undefined : protocol;
}

function exports(signal: Signal): boolean {
  const hasEndpoint = (getStringFromEnv(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) ?? getStringFromEnv("OTEL_EXPORTER_OTLP_ENDPOINT")) !== undefined;
  return hasEndpoint && (getStringFromEnv(`OTEL_${signal}_EXPORTER`) ?? "otlp").includes("otlp");
}

const timeoutMs = (signal: Signal): number =>
  getNumberFromEnv(`OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`) ?? getNumberFromEnv("OTEL_EXPORTER_OTLP_TIMEOUT") ?? EXPORT_TIMEOUT_MS;

const optional = <Name extends string, Value>(name: Name, value: Value | undefined): { [key in Name]?: Value } =>
  value === undefined ? {} : ({ [name]: value } as { [key in Name]: Value });
