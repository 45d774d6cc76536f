import { getStringFromEnv } from "@opentelemetry/core";
import { OTLPTraceExporter as GrpcExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import type { SpanExporter } from "@opentelemetry/sdk-trace";

/** Sends spans as the standard variables say. `NodeSDK` would make the same one, and let nothing between. */
export function otlpSpanExporter(): SpanExporter {
  switch (
    (getStringFromEnv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") ?? getStringFromEnv("OTEL_EXPORTER_OTLP_PROTOCOL"))?.trim()
  ) {
    case "grpc":
      return new GrpcExporter();
    case "http/json":
      return new JsonExporter();
    default:
      return new ProtobufExporter(); // also for a protocol that is not known
  }
}
