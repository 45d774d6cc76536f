import { context, metrics, propagation, trace } from "@opentelemetry/api";
import { getBooleanFromEnv } from "@opentelemetry/core";
import type { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { type IMetricReader, MeterProvider } from "@opentelemetry/sdk-metrics";
import { views } from "./metrics/views.ts";
import type { Durations } from "./tallies/durations.ts";
import { TallyMeterProvider } from "./tallies/tally-meter-provider.ts";
import { IdTracerProvider } from "./traces/id-tracer-provider.ts";
import { LinkedContextManager } from "./traces/linked-context.ts";
import { TraceContextPropagator } from "./traces/trace-context-propagator.ts";

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
