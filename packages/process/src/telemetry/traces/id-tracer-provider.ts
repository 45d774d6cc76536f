import { randomFillSync } from "node:crypto";
import {
  type Attributes,
  type AttributeValue,
  type Context,
  context,
  isSpanContextValid,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";

/**
 * Makes spans that have ids and go nowhere: enough for logs, and for a trace that another process exports. The SDK's
 * own spans, which keep what is set on them, were a quarter of what a call costs in memory, for nobody to read. A span
 * inside such a span is the same span: what would tell them apart is seen by nobody, and a context less is entered.
 */
export class IdTracerProvider implements TracerProvider {
  readonly #tracer = new IdTracer();

  getTracer(): Tracer {
    return this.#tracer;
  }
}

class IdTracer implements Tracer {
  startSpan(_name: string, { root = false }: SpanOptions = {}, parent: Context = context.active()): Span {
    const outer = root ? undefined : trace.getSpan(parent);
    if (outer instanceof IdSpan) return outer;
    const from = outer?.spanContext();
    const isValid = from !== undefined && (from.isRemote === true || isSpanContextValid(from)); // a remote one was checked when it was read
    return new IdSpan(isValid ? from : undefined);
  }

  startActiveSpan<F extends (span: Span) => unknown>(name: string, ...rest: ActiveSpanArguments<F>): ReturnType<F> {
    return runActive(this, name, rest);
  }
}

/** What `startActiveSpan` is given behind the name. */
export type ActiveSpanArguments<F> = [F] | [SpanOptions, F] | [SpanOptions, Context, F];

/** Starts a span and runs the function in it. A span that is active already needs no further context. */
export function runActive<F extends (span: Span) => unknown>(
  tracer: Pick<Tracer, "startSpan">,
  name: string,
  rest: ActiveSpanArguments<F>,
): ReturnType<F> {
  const run = rest[rest.length - 1] as F;
  const options = rest.length > 1 ? (rest[0] as SpanOptions) : undefined;
  const parent = rest.length > 2 ? (rest[1] as Context) : context.active();
  const span = tracer.startSpan(name, options, parent);
  const shown = span instanceof IdSpan ? span.shown : span;
  if (shown === trace.getSpan(context.active())) return run(span) as ReturnType<F>;
  return context.with(trace.setSpan(parent, shown), run as (span: Span) => ReturnType<F>, undefined, span);
}

/** The part of a span that comes from its trace. */
type Origin = Pick<SpanContext, "traceId" | "traceFlags" | "traceState">;

/** Most spans are asked for no id, so each is made when it is asked for. */
export class IdSpan implements Span {
  readonly #origin: Origin | undefined;
  #context: SpanContext | undefined;

  readonly #rootFlags: TraceFlags;

  /** @param origin undefined at the root of a trace, which has `rootFlags` then */
  constructor(origin: Origin | undefined, rootFlags = TraceFlags.SAMPLED) {
    this.#origin = origin;
    this.#rootFlags = rootFlags;
  }

  /** The span that is active while this one is. */
  get shown(): IdSpan {
    return this;
  }

  spanContext(): SpanContext {
    this.#context ??= this.#origin === undefined ? rootContext(this.#rootFlags) : childContext(this.#origin);
    return this.#context;
  }

  setAttribute(_name: string, _value: AttributeValue): this {
    return this;
  }

  setAttributes(_attributes: Attributes): this {
    return this;
  }

  addEvent(): this {
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  setStatus(_status: SpanStatus): this {
    return this;
  }

  updateName(_name: string): this {
    return this;
  }

  end(): void {}

  isRecording(): boolean {
    return false;
  }

  recordException(): void {}
}

/** One text for both ids, as each costs a call of its own. */
function rootContext(traceFlags: TraceFlags): SpanContext {
  const ids = randomHex(TRACE_ID_BYTES + SPAN_ID_BYTES);
  return {
    traceId: ids.slice(0, 2 * TRACE_ID_BYTES),
    spanId: ids.slice(2 * TRACE_ID_BYTES),
    traceFlags,
    isRemote: false,
  };
}

function childContext({ traceId, traceFlags, traceState }: Origin): SpanContext {
  return {
    traceId,
    spanId: randomHex(SPAN_ID_BYTES),
    traceFlags,
    isRemote: false,
    ...(traceState === undefined ? {} : { traceState }),
  };
}

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
/** Random bytes are cheap by the kilobyte and dear by the call. */
const pool = Buffer.alloc(4096);
let poolAt = pool.length;

function randomHex(bytes: number): string {
  if (poolAt + bytes > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  poolAt += bytes;
  return pool.toString("hex", poolAt - bytes, poolAt);
}
