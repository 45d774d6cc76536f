import {
  type Context,
  context,
  isSpanContextValid,
  type Span,
  type SpanContext,
  type SpanOptions,
  type Tracer,
  type TracerOptions,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { isTracingSuppressed } from "@opentelemetry/core";
import { type IdGenerator, RandomIdGenerator } from "@opentelemetry/sdk-trace";
import type { HeadSampling } from "./head-sampling.ts";
import { type ActiveSpanArguments, runActive } from "./id-tracer-provider.ts";
import { type KeptSpan, UnsampledSpan } from "./unsampled-span.ts";

/** Makes ids by lot, as the SDK does, but for a span that has its ids already. */
export class GivenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #given: SpanContext | undefined;

  readonly generateTraceId = (): string => this.#given?.traceId ?? this.#random.generateTraceId();
  readonly generateSpanId = (): string => this.#given?.spanId ?? this.#random.generateSpanId();

  /** Has the span that `start` makes get these ids. */
  for(ids: SpanContext, start: () => Span): Span {
    this.#given = ids;
    try {
      return start();
    } finally {
      this.#given = undefined;
    }
  }
}

export interface HeadSampledTracersOptions {
  /** The SDK, which records each span that it is asked for. */
  readonly sdk: TracerProvider;
  /** The ids of the SDK's spans. */
  readonly ids: GivenIds;
  readonly sampling: HeadSampling;
}

/**
 * Asks the SDK for spans of traces that are recorded, and for no others. Before its own samplers are asked, the SDK has
 * made ids and copied the attributes, for nobody to read. A call that failed or took long is kept also where its trace is
 * not: see UnsampledSpan.
 */
export class HeadSampledTracers implements TracerProvider {
  readonly #options: HeadSampledTracersOptions;

  constructor(options: HeadSampledTracersOptions) {
    this.#options = options;
  }

  getTracer(name: string, version?: string, options?: TracerOptions): Tracer {
    return new HeadSampledTracer(this.#options.sdk.getTracer(name, version, options), this.#options);
  }
}

class HeadSampledTracer implements Tracer {
  readonly #recording: Tracer;
  readonly #sampling: HeadSampling;
  readonly #keep: (span: KeptSpan) => void;

  constructor(recording: Tracer, { ids, sampling }: HeadSampledTracersOptions) {
    this.#recording = recording;
    this.#sampling = sampling;
    this.#keep = ({ name, kind, attributes, status, start, end, ids: own, parent }) => {
      if (!sampling.isKept()) return;
      const options = { kind, attributes, startTime: start };
      ids
        .for(own, () => recording.startSpan(name, options, parent))
        .setStatus(status)
        .end(end);
    };
  }

  startSpan(name: string, options: SpanOptions = {}, parent: Context = context.active()): Span {
    const outer = options.root === true ? undefined : trace.getSpan(parent);
    if (outer instanceof UnsampledSpan) return outer.within(name, options);
    const found = outer?.spanContext();
    const from = found !== undefined && isSpanContextValid(found) ? found : undefined;
    if (isTracingSuppressed(parent) || this.#sampling.isRecorded(parent, from))
      return this.#recording.startSpan(name, options, parent);
    const above = options.root === true ? trace.deleteSpan(parent) : parent;
    return new UnsampledSpan(name, options, from, { parent: above, keep: this.#keep });
  }

  startActiveSpan<F extends (span: Span) => unknown>(name: string, ...rest: ActiveSpanArguments<F>): ReturnType<F> {
    return runActive(this, name, rest);
  }
}
