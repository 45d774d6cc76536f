import { context, metrics, propagation, trace } from "@opentelemetry/api";
import { getBooleanFromEnv } from "@opentelemetry/core";
import type { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { type IMetricReader, MeterProvider } from "@opentelemetry/sdk-metrics";
import { IdTracerProvider } from "./id-tracer-provider.ts";
import { LinkedContextManager } from "./linked-context.ts";
import type { Durations } from "./tallies/durations.ts";
import { TallyMeterProvider } from "./tallies/tally-meter-provider.ts";
import { TraceContextPropagator } from "./trace-context-propagator.ts";
import { views } from "./views.ts";

export interface StartLocalOptions {
  readonly reader: IMetricReader;
  readonly durations: Durations;
  readonly outgoing: UndiciInstrumentation;
}

/**
 * Connects `@opentelemetry/api` to what works without a collector: metrics for `reader`, and spans that have ids and go
 * nowhere. `OTEL_SDK_DISABLED=true` leaves what `reader` gets from elsewhere.
 */
export function startLocal({ reader, durations, outgoing }: StartLocalOptions): { shutdown(): Promise<void> } {
  const meters = new MeterProvider({ views, readers: [reader] });
  propagation.setGlobalPropagator(new TraceContextPropagator());
  context.setGlobalContextManager(new LinkedContextManager());
  if (!getBooleanFromEnv("OTEL_SDK_DISABLED")) {
    metrics.setGlobalMeterProvider(new TallyMeterProvider(meters, durations));
    trace.setGlobalTracerProvider(new IdTracerProvider());
    outgoing.setMeterProvider(meters);
  }
  return meters;
}
