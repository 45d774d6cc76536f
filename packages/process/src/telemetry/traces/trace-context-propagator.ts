import {
  type Context,
  type SpanContext,
  type TextMapGetter,
  type TextMapSetter,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import {
  isTracingSuppressed,
  TRACE_PARENT_HEADER,
  TRACE_STATE_HEADER,
  W3CTraceContextPropagator,
} from "@opentelemetry/core";
import { IdSpan } from "./id-tracer-provider.ts";

/**
 * The SDK's propagator, but for plain headers, of which each of our messages has one. It writes them without a check of
 * the ids that were minted here, and cuts them up without a pattern.
 */
export class TraceContextPropagator extends W3CTraceContextPropagator {
  override inject(context: Context, carrier: unknown, setter: TextMapSetter): void {
    const span = trace.getSpan(context);
    const own = span instanceof IdSpan ? span.spanContext() : undefined;
    if (own === undefined || own.traceState !== undefined || isTracingSuppressed(context))
      super.inject(context, carrier, setter);
    else setter.set(carrier, TRACE_PARENT_HEADER, `00-${own.traceId}-${own.spanId}-0${own.traceFlags.toString(16)}`);
  }

  override extract(context: Context, carrier: unknown, getter: TextMapGetter): Context {
    const header = getter.get(carrier, TRACE_PARENT_HEADER);
    const hasState = getter.get(carrier, TRACE_STATE_HEADER) !== undefined;
    const plain = typeof header === "string" && !hasState ? readPlain(header) : undefined;
    return plain === undefined ? super.extract(context, carrier, getter) : trace.setSpanContext(context, plain);
  }
}

/**
 * A header of version 00, with no flag but whether the trace is sampled.
 * @returns undefined for any other header, and for ids that are none
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
function readPlain(header: string): SpanContext | undefined {
  if (
    header.length !== LENGTH ||
    !header.startsWith("00-") ||
    header[35] !== "-" ||
    !(header.endsWith("-01") || header.endsWith("-00"))
  )
    return undefined;
  bytes.write(header); // as UTF-8, so that any other letter has a byte that is no digit; letters of a string that V8 has only concatenated are dear to read
  if (!isId(3, 35) || !isId(36, 52)) return undefined;
  const traceFlags = header.endsWith("1") ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return { traceId: header.slice(3, 35), spanId: header.slice(36, 52), traceFlags, isRemote: true };
}

const LENGTH = 55;
const bytes = Buffer.alloc(LENGTH);
const NO_DIGIT = 0x10;
/** The value of each byte as a lower-case hex digit. */
const digits = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = "0123456789abcdef".indexOf(String.fromCharCode(code));
  return digit === -1 ? NO_DIGIT : digit;
});

/** Tells whether the bytes are hex digits, not all of them 0. */
function isId(from: number, to: number): boolean {
  let all = 0;
  for (let at = from; at < to; at++) all |= digits[bytes[at] as number] as number;
  return all > 0 && all < NO_DIGIT;
}
