import { getBooleanFromEnv, getStringFromEnv, getStringListFromEnv } from "@opentelemetry/core";

/**
 * Tells whether the standard variables ask for this signal as OTLP. They do if `OTEL_EXPORTER_OTLP_ENDPOINT` or the
 * signal's own endpoint is set, and `OTEL_SDK_DISABLED` is not true. `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER`
 * must name no other exporter. The standard would send to localhost if no endpoint is set. A process that nobody has
 * configured stays silent.
 */
export function isExported(signal: "TRACES" | "METRICS"): boolean {
  if (getBooleanFromEnv("OTEL_SDK_DISABLED")) return false;
  const endpoint =
    getStringFromEnv(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) ?? getStringFromEnv("OTEL_EXPORTER_OTLP_ENDPOINT");
  return endpoint !== undefined && (getStringListFromEnv(`OTEL_${signal}_EXPORTER`) ?? ["otlp"]).includes("otlp");
}
