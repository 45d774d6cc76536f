import { metrics } from "@opentelemetry/api";
import { getStringFromEnv, W3CTraceContextPropagator } from "@opentelemetry/core";
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
import { NoopSpanProcessor, ParentBasedSampler } from "@opentelemetry/sdk-trace";
import { isExported } from "./is-exported.ts";
import { isSentCumulated, otlpMetricReader } from "./metrics/otlp-metric-reader.ts";
import { views } from "./metrics/views.ts";
import type { Durations } from "./tallies/durations.ts";
import { TallyMeterProvider } from "./tallies/tally-meter-provider.ts";
import { LinkedContextManager } from "./traces/linked-context.ts";
import { otlpSpanExporter } from "./traces/otlp-span-exporter.ts";
import { RateLimitedSampler } from "./traces/rate-limited-sampler.ts";
import { redactedSpans } from "./traces/redacted-spans.ts";

export interface StartExportOptions {
  readonly service: string;
  readonly version: string | undefined;
  readonly reader: IMetricReader;
  readonly producers: MetricProducer[];
  readonly durations: Durations;
  readonly outgoing: UndiciInstrumentation;
}

/**
 * More than agents make, and what a collector takes without a thought. To record and send all spans of a call takes as
 * long as all else for it.
 */
const MAX_TRACES_PER_SECOND = 100;
/** The longest text in a span, which would otherwise carry whatever a page or a model put into an attribute. */
const MAX_ATTRIBUTE_CHARACTERS = 4096;

/**
 * Connects `@opentelemetry/api` to the whole SDK: exporters, protocol, sampler, batches and resource follow the
 * standard variables. Without `OTEL_TRACES_SAMPLER` at most MAX_TRACES_PER_SECOND traces that begin here are recorded,
 * and all that began elsewhere and are recorded there. Loaded only if something is exported, since it is most of
 * OpenTelemetry, gRPC included.
 */
export function startExport({ service, version, reader, producers, durations, outgoing }: StartExportOptions): {
  shutdown(): Promise<void>;
} {
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
    // Without any processor there is no tracer, and all ids are zero.
    ...(isExported("TRACES")
      ? { traceExporter: redactedSpans(otlpSpanExporter()) }
      : { spanProcessors: [new NoopSpanProcessor()] }),
    ...(getStringFromEnv("OTEL_TRACES_SAMPLER") === undefined
      ? { sampler: new ParentBasedSampler({ root: new RateLimitedSampler({ perSecond: MAX_TRACES_PER_SECOND }) }) }
      : {}),
    logRecordProcessors: [],
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_CHARACTERS },
    contextManager: new LinkedContextManager(),
    textMapPropagator: new W3CTraceContextPropagator(),
    instrumentations: [outgoing],
  });
  sdk.start();
  const meters = metrics.getMeterProvider();
  metrics.disable(); // else it cannot be replaced
  metrics.setGlobalMeterProvider(
    new TallyMeterProvider(meters, isExported("METRICS") && !isSentCumulated() ? undefined : durations),
  );
  return sdk;
}
