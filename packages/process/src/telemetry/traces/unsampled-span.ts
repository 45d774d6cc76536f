import {
  type Attributes,
  type AttributeValue,
  type Context,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
} from "@opentelemetry/api";
import { IdSpan } from "./id-tracer-provider.ts";

/** A call takes long from here on: more than a tool that answers an agent's question should. */
const SLOW_MS = 5_000;

/** A span of a trace that is not recorded, which stands alone for its call. */
export interface KeptSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly status: SpanStatus;
  /** On the clock of `performance.now()`, as is `end`. */
  readonly start: number;
  readonly end: number;
  readonly ids: SpanContext;
  /** The context that it was started in. */
  readonly parent: Context;
}

/** What all spans of the process's part of a trace share. */
interface Part {
  readonly parent: Context;
  readonly keep: (span: KeptSpan) => void;
}

/**
 * How much a span that has ended is worth to be kept. What failed is worth more than what took long, and a call more
 * than the request that carried it.
 */
const Worth = { nothing: 0, slow: 1, failedRequest: 2, failed: 3 } as const;
type Worth = (typeof Worth)[keyof typeof Worth];

/**
 * A span of a trace that is not recorded. The outermost one of this process has ids, made when asked for. Spans within
 * it go by its ids, and are active by it: nobody sees them apart. At its end, the outermost call that failed is
 * kept, else the outermost that took long, as a single span with these ids. What a call asks of others, of the kind
 * `client`, is judged by the call.
 */
export class UnsampledSpan extends IdSpan {
  readonly #part: Part;
  readonly #outermost: UnsampledSpan;
  #name: string;
  readonly #options: SpanOptions;
  readonly #start = performance.now();
  #added: Attributes | undefined;
  #status: SpanStatus | undefined;
  #hasEnded = false;
  #best: { readonly span: UnsampledSpan; readonly worth: Worth; readonly end: number } | undefined;

  /** @param origin undefined at the root of a trace */
  constructor(
    name: string,
    options: SpanOptions,
    origin: SpanContext | undefined,
    part: Part,
    outermost?: UnsampledSpan,
  ) {
    super(origin === undefined ? undefined : { ...origin, traceFlags: TraceFlags.NONE }, TraceFlags.NONE);
    this.#name = name;
    this.#options = options;
    this.#part = part;
    this.#outermost = outermost ?? this;
  }

  override get shown(): IdSpan {
    return this.#outermost;
  }

  /** A span within this one. */
  within(name: string, options: SpanOptions): UnsampledSpan {
    return new UnsampledSpan(name, options, undefined, this.#part, this.#outermost);
  }

  override spanContext(): SpanContext {
    return this.#outermost === this ? super.spanContext() : this.#outermost.spanContext();
  }

  override setAttribute(name: string, value: AttributeValue): this {
    return this.setAttributes({ [name]: value });
  }

  override setAttributes(attributes: Attributes): this {
    this.#added = this.#added === undefined ? attributes : { ...this.#added, ...attributes };
    return this;
  }

  override setStatus(status: SpanStatus): this {
    this.#status = status;
    return this;
  }

  override updateName(name: string): this {
    this.#name = name;
    return this;
  }

  override end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#outermost.#judge(this, performance.now());
  }

  #judge(span: UnsampledSpan, end: number): void {
    const worth = span.#worth(end);
    if (worth > Worth.nothing && worth >= (this.#best?.worth ?? Worth.nothing)) this.#best = { span, worth, end };
    if (!this.#hasEnded || this.#best === undefined) return; // a call may go on after the request that brought it
    const best = this.#best;
    this.#best = undefined;
    best.span.#keep(best.end, best.worth === Worth.slow ? "slow" : "error");
  }

  #worth(end: number): Worth {
    const { kind } = this.#options;
    if (kind === SpanKind.CLIENT && this.#outermost !== this) return Worth.nothing;
    const isRequest = kind === SpanKind.SERVER;
    if (this.#status?.code === SpanStatusCode.ERROR) return isRequest ? Worth.failedRequest : Worth.failed;
    return !isRequest && end - this.#start >= SLOW_MS ? Worth.slow : Worth.nothing; // an open stream is no slow call
  }

  #keep(end: number, why: "error" | "slow"): void {
    const { kind = SpanKind.INTERNAL, attributes } = this.#options;
    this.#part.keep({
      name: this.#name,
      kind,
      attributes: { ...this.#added, ...attributes, "rockbot.trace.kept": why }, // what spans within add gives way
      status: this.#status ?? { code: SpanStatusCode.UNSET },
      start: this.#start,
      end,
      ids: this.spanContext(),
      parent: this.#part.parent,
    });
  }
}
