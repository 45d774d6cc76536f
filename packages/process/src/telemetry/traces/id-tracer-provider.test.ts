import { ROOT_CONTEXT, TraceFlags, trace } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { IdTracerProvider } from "./id-tracer-provider.ts";

const tracer = new IdTracerProvider().getTracer();

test("a span has ids of its own and records nothing", () => {
  const [one, other] = [tracer.startSpan("a", {}, ROOT_CONTEXT), tracer.startSpan("b", {}, ROOT_CONTEXT)];

  expect(trace.isSpanContextValid(one.spanContext())).toBe(true);
  expect(one.spanContext().traceFlags).toBe(TraceFlags.SAMPLED);
  expect(one.isRecording()).toBe(false);
  expect(one.spanContext().traceId).not.toBe(other.spanContext().traceId);
});

test("a span belongs to its parent's trace, and is sampled as it is, unless it is to be a root", () => {
  const parent = {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    traceFlags: TraceFlags.NONE,
    isRemote: true,
  };
  const inside = trace.setSpanContext(ROOT_CONTEXT, parent);
  const child = tracer.startSpan("child", {}, inside).spanContext();

  expect(child).toMatchObject({ traceId: parent.traceId, traceFlags: TraceFlags.NONE, isRemote: false });
  expect(child.spanId).not.toBe(parent.spanId);
  expect(tracer.startSpan("root", { root: true }, inside).spanContext().traceId).not.toBe(parent.traceId);
});

test("a span inside a span that goes nowhere is that span, unless it is to be a root", () => {
  const outer = tracer.startSpan("outer", {}, ROOT_CONTEXT);
  const inside = trace.setSpan(ROOT_CONTEXT, outer);

  expect(tracer.startSpan("inner", {}, inside)).toBe(outer);
  expect(tracer.startActiveSpan("inner", {}, inside, (span) => span)).toBe(outer);
  expect(tracer.startSpan("root", { root: true }, inside)).not.toBe(outer);
});

test("an active span runs its function with whatever was given before it", () => {
  expect(tracer.startActiveSpan("a", () => 1)).toBe(1);
  expect(tracer.startActiveSpan("a", {}, (span) => span.isRecording())).toBe(false);
  expect(tracer.startActiveSpan("a", {}, ROOT_CONTEXT, () => "done")).toBe("done");
});
