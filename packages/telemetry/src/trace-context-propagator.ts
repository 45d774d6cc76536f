import { type Context, isSpanContextValid, type SpanContext, type TextMapGetter, type TextMapSetter, TraceFlags, trace } from "@opentelemetry/api";
import { isTracingSuppressed, TRACE_PARENT_HEADER, TRACE_STATE_HEADER, W3CTraceContextPropagator } from "@opentelemetry/core";
import { IdSpan } from "./id-tracer-provider.ts";

/**
 * The SDK's propagator, but that plain headers, of which each of our messages has one, are written without a check of the ids
 * that were minted here, and cut up without a pattern.
 */
export class TraceContextPropagator extends W3CTraceContextPropagator {
  override inject(context: Context, carrier: unknown, setter: TextMapSetter): void {
    const span = trace.getSpan(context);
    const own = span instanceof IdSpan ? span.spanContext() : undefined;
    if (own === undefined || own.traceState !== undefined || isTracingSuppressed(context)) super.inject(context, carrier, setter);
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
  if (header.length !== 55 || !header.startsWith("00-") || header[35] !== "-" || header[52] !== "-") return undefined;
  const flags = header.slice(53);
  if ((flags !== "01" && flags !== "00") || header !== header.toLowerCase()) return undefined;
  const traceFlags = flags === "01" ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const found = { traceId: header.slice(3, 35), spanId: header.slice(36, 52), traceFlags, isRemote: true };
  return isSpanContextValid(found) ? found : undefined;
}
