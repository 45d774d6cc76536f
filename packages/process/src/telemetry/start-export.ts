import { metrics, type ProxyTracerProvider, trace } from "@opentelemetry/api";
import { getStringFromEnv } from "@opentelemetry/core";
import type { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import {
  defaultResource,
  envDetector,
  osDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from "@opentelemetry/resources";
import type { IMetricReader, MetricProducer } from "@opentelemetry/sdk-metrics";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { AlwaysOnSampler } from "@opentelemetry/sdk-trace";
import { isExported } from "./is-exported.ts";
import { isSentCumulated, otlpMetricReader } from "./metrics/otlp-metric-reader.ts";
import { views } from "./metrics/views.ts";
import type { Durations } from "./tallies/durations.ts";
import { TallyMeterProvider } from "./tallies/tally-meter-provider.ts";
import { GivenIds, HeadSampledTracers } from "./traces/head-sampled-tracers.ts";
import { HeadSampling } from "./traces/head-sampling.ts";
import { IdTracerProvider } from "./traces/id-tracer-provider.ts";
import { LinkedContextManager } from "./traces/linked-context.ts";
import { otlpSpanExporter } from "./traces/otlp-span-exporter.ts";
import { redactedSpans } from "./traces/redacted-spans.ts";
import { TraceContextPropagator } from "./traces/trace-context-propagator.ts";

export interface StartExportOptions {
  readonly service: string;
  readonly version: string | undefined;
  readonly reader: IMetricReader;
  readonly producers: MetricProducer[];
  readonly durations: Durations;
  readonly outgoing: UndiciInstrumentation;
  /** See StartTelemetryOptions. */
  readonly traceRatio: number | undefined;
}

/** The longest text in a span, which would otherwise carry whatever a page or a model put into an attribute. */
const MAX_ATTRIBUTE_CHARACTERS = 4096;

/**
 * Connects `@opentelemetry/api` to the whole SDK: exporters, protocol, sampler, batches and resource follow the
 * standard variables. Without `OTEL_TRACES_SAMPLER` the sampling is our own, see HeadSampling. Loaded only if something is exported, since it is most of
 * OpenTelemetry, gRPC included.
 */
export function startExport({
  service,
  version,
  reader,
  producers,
  durations,
  outgoing,
  traceRatio,
}: StartExportOptions): {
  shutdown(): Promise<void>;
} {
  const ids = new GivenIds();
  const isSampledHere = getStringFromEnv("OTEL_TRACES_SAMPLER") === undefined;
  const sdk = new NodeSDK({
    resource: defaultResource().merge(
      resourceFromAttributes({
        "service.name": service,
        ...(version === undefined ? {} : { "service.version": version }),
      }),
    ),
    // The SDK's own choice has the command line too, which can hold the bus's password, and the host's id, which comes
    // late.
    ...(getStringFromEnv("OTEL_NODE_RESOURCE_DETECTORS") === undefined
      ? { resourceDetectors: [serviceInstanceIdDetector, osDetector, envDetector] }
      : {}),
    metricReaders: [reader, ...(isExported("METRICS") ? [otlpMetricReader(producers)] : [])],
    views,
    ...(isExported("TRACES") ? { traceExporter: redactedSpans(otlpSpanExporter()) } : { spanProcessors: [] }),
    ...(isSampledHere ? { sampler: new AlwaysOnSampler(), idGenerator: ids } : {}),
    logRecordProcessors: [],
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_CHARACTERS },
    contextManager: new LinkedContextManager(),
    textMapPropagator: new TraceContextPropagator(),
    instrumentations: [outgoing],
  });
  sdk.start();
  if (!isExported("TRACES")) trace.setGlobalTracerProvider(new IdTracerProvider());
  else if (isSampledHere) {
    const tracers = trace.getTracerProvider() as ProxyTracerProvider; // who has a tracer already gets ours, too
    const sampling = new HeadSampling({ ratio: traceRatio });
    tracers.setDelegate(new HeadSampledTracers({ sdk: tracers.getDelegate(), ids, sampling }));
  }
  const meters = metrics.getMeterProvider();
  metrics.disable(); // else it cannot be replaced
  metrics.setGlobalMeterProvider(
    new TallyMeterProvider(meters, isExported("METRICS") && !isSentCumulated() ? undefined : durations),
  );
  return sdk;
}
