import { diag } from "@opentelemetry/api";
import { getNumberFromEnv, getStringFromEnv } from "@opentelemetry/core";
import { OTLPMetricExporter as GrpcExporter } from "@opentelemetry/exporter-metrics-otlp-grpc";
import { OTLPMetricExporter as JsonExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtobufExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { type IMetricReader, type MetricProducer, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";

/**
 * Sends metrics as the standard variables say. `NodeSDK` makes such a reader only if it is given no other, and no
 * producer can be added to it. We give it the reader behind `/metrics`, and have the process's own metrics to add.
 */
export function otlpMetricReader(producers: MetricProducer[]): IMetricReader {
  const exportIntervalMillis = millisecondsFromEnv("OTEL_METRIC_EXPORT_INTERVAL", 60_000);
  const timeoutMs = millisecondsFromEnv("OTEL_METRIC_EXPORT_TIMEOUT", 30_000);
  return new PeriodicExportingMetricReader({
    exporter: exporter(),
    metricProducers: producers,
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(timeoutMs, exportIntervalMillis), // more is an error
  });
}

/**
 * True if exported values are cumulated since the start: the default, unless the standard variable asks for
 * differences.
 */
export function isSentCumulated(): boolean {
  return (
    (getStringFromEnv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE") ?? "cumulative").trim().toLowerCase() ===
    "cumulative"
  );
}

function millisecondsFromEnv(name: string, byDefault: number): number {
  const value = getNumberFromEnv(name) ?? byDefault;
  if (value > 0) return value;
  diag.warn(`Cannot use ${value} as ${name}, which must be positive: ${byDefault} is used`);
  return byDefault;
}

function exporter(): GrpcExporter | JsonExporter | ProtobufExporter {
  switch (
    (getStringFromEnv("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL") ?? getStringFromEnv("OTEL_EXPORTER_OTLP_PROTOCOL"))?.trim()
  ) {
    case "grpc":
      return new GrpcExporter();
    case "http/json":
      return new JsonExporter();
    default:
      return new ProtobufExporter(); // also for a protocol that is not known, of which NodeSDK warns
  }
}
