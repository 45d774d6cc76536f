import { defaultTextMapGetter, defaultTextMapSetter, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { suppressTracing, W3CTraceContextPropagator } from "@opentelemetry/core";
import { expect, test } from "vitest";
import { IdTracerProvider } from "./id-tracer-provider.ts";
import { TraceContextPropagator } from "./trace-context-propagator.ts";

const ours = new TraceContextPropagator();
const sdks = new W3CTraceContextPropagator();
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

test.each([
  { traceparent: `00-${TRACE}-${SPAN}-01` },
  { traceparent: `00-${TRACE}-${SPAN}-00` },
  { traceparent: `00-${TRACE}-${SPAN}-03` },
  { traceparent: `01-${TRACE}-${SPAN}-01-more` },
  { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "vendor=1" },
  { traceparent: `00-${"0".repeat(32)}-${SPAN}-01` },
  { traceparent: `00-${TRACE}-${"0".repeat(16)}-01` },
  { traceparent: `00-${TRACE.toUpperCase()}-${SPAN}-01` },
  { traceparent: `00-${TRACE.replace("a", "\u0161")}-${SPAN}-01` },
  { traceparent: `00-${TRACE}x${SPAN}-01` },
  { traceparent: `00-${TRACE}-${SPAN}x01` },
  { traceparent: `00-${TRACE}-${SPAN}-0g` },
  { traceparent: `ff-${TRACE}-${SPAN}-01` },
  { traceparent: "" },
  { traceparent: ["a list"] },
  {},
])("reads $traceparent as the SDK does", (carrier) => {
  const spanContext = (propagator: W3CTraceContextPropagator) => {
    const found = trace.getSpanContext(propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter));
    return found && { ...found, traceState: found.traceState?.serialize() };
  };
  expect(spanContext(ours)).toEqual(spanContext(sdks));
});

test.each([undefined, "00", "01", "03", "vendor=1"])("writes a span in a trace with %s as the SDK does", (origin) => {
  const tracer = new IdTracerProvider().getTracer();
  const state = origin?.includes("=") ? { tracestate: origin } : {};
  const parent = {
    traceparent: `00-${TRACE}-${SPAN}-${origin === undefined || "tracestate" in state ? "01" : origin}`,
    ...state,
  };
  const inside = origin === undefined ? ROOT_CONTEXT : sdks.extract(ROOT_CONTEXT, parent, defaultTextMapGetter);
  const context = trace.setSpan(inside, tracer.startSpan("a", {}, inside));
  const written = (propagator: W3CTraceContextPropagator, from = context) => {
    const carrier: Record<string, string> = {};
    propagator.inject(from, carrier, defaultTextMapSetter);
    return carrier;
  };

  expect(written(ours)).toEqual(written(sdks));
  expect(written(ours)).toHaveProperty("traceparent");
  expect(written(ours, suppressTracing(context))).toEqual({});
  expect(written(ours, ROOT_CONTEXT)).toEqual({});
});
