import { context, propagation, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { createMemoryBus } from "@rockbot/bus";
import { createEnvelope, encodeMessage, Header, messages, newId, ToolError } from "@rockbot/contracts";
import { type OtlpCollector, startOtlpCollector } from "@rockbot/testing";
import { defineTool, serveTools } from "@rockbot/tools";
import { afterEach, expect, test, vi } from "vitest";
import { startTelemetry } from "../start-telemetry.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** What a collector gets of the spans that are made meanwhile. */
async function spansOf(make: (collector: OtlpCollector) => Promise<void>, traceRatio?: number) {
  await using collector = await startOtlpCollector();
  for (const [name, value] of Object.entries(collector.env)) vi.stubEnv(name, value);
  {
    await using _telemetry = await startTelemetry({ service: "example", logLevel: "silent", traceRatio });
    await make(collector);
  }
  return collector.spans();
}

/** In the trace of a caller that does not record it. */
const inTrace = <T>(flag: "00" | "01", run: () => T): T =>
  context.with(propagation.extract(context.active(), { traceparent: `00-${TRACE}-${CALLER}-${flag}` }), run);

function inSpan<T>(name: string, kind: SpanKind, run: (span: Span) => T): T {
  return trace.getTracer("test").startActiveSpan(name, { kind, attributes: { "test.name": name } }, (span) => {
    try {
      return run(span);
    } finally {
      span.end();
    }
  });
}
const fail = (span: Span) =>
  span.setStatus({ code: SpanStatusCode.ERROR, message: "timeout" }).setAttribute("error.type", "timeout");

test("of traces that are not recorded, a call that fails is one span, with the ids that logs and others have", async () => {
  const own: Record<string, string> = {};
  const spans = await spansOf(async () => {
    inSpan("well", SpanKind.CONSUMER, () => {});
    inTrace("00", () =>
      inSpan("badly", SpanKind.CONSUMER, (span) => {
        propagation.inject(context.active(), own);
        inSpan("asks", SpanKind.CLIENT, fail);
        fail(span);
      }),
    );
  }, 0);

  expect(spans).toMatchObject([
    {
      name: "badly",
      kind: "consumer",
      traceId: TRACE,
      parentSpanId: CALLER,
      status: { code: "error", message: "timeout" },
      attributes: { "test.name": "badly", "error.type": "timeout", "rockbot.trace.kept": "error" },
    },
  ]);
  expect(own["traceparent"]).toBe(`00-${TRACE}-${spans[0]?.spanId}-00`);
});

test("a call that fails within a request is kept instead of the request; what a call asks of others is not", async () => {
  const spans = await spansOf(async () => {
    inSpan("request", SpanKind.SERVER, (request) => {
      inSpan("call", SpanKind.PRODUCER, fail);
      fail(request);
    });
    inSpan("call that is mended", SpanKind.CONSUMER, () => inSpan("asks", SpanKind.CLIENT, fail));
    inSpan("request alone", SpanKind.SERVER, fail);
    inSpan("turn", SpanKind.CONSUMER, () => {
      inSpan("first", SpanKind.PRODUCER, fail);
      inSpan("second", SpanKind.PRODUCER, () => {});
    });
  }, 0);

  expect(spans.map(({ name }) => name)).toEqual(["call", "request alone", "first"]);
  expect(spans.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, undefined, undefined]);
});

test("a call that takes long is kept with its time, and an open stream is not", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const spans = await spansOf(async () => {
    inSpan("stream", SpanKind.SERVER, () => vi.advanceTimersByTime(60_000));
    inSpan("quick", SpanKind.CONSUMER, () => vi.advanceTimersByTime(4_000));
    inSpan("slow", SpanKind.CONSUMER, () => vi.advanceTimersByTime(6_000));
  }, 0);

  expect(spans).toMatchObject([{ name: "slow", attributes: { "rockbot.trace.kept": "slow" } }]);
  expect(spans[0]?.durationMs).toBeCloseTo(6_000, -1);
});

test("of many calls that fail at once, as many are kept as traces are recorded", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const spans = await spansOf(async () => {
    for (let call = 0; call < 150; call++) inSpan(`call ${call}`, SpanKind.CONSUMER, fail);
  }, 0);

  expect(spans).toHaveLength(100);
});

test("a recorded trace has all its spans, and a kept one ends what comes after it as well", async () => {
  const spans = await spansOf(async () => {
    inTrace("01", () => inSpan("outer", SpanKind.CONSUMER, () => inSpan("inner", SpanKind.PRODUCER, fail)));
    let late: Span | undefined;
    inSpan("request", SpanKind.SERVER, () => {
      late = trace.getTracer("test").startSpan("goes on", { kind: SpanKind.PRODUCER });
    });
    if (late !== undefined) fail(late).end();
  }, 0);

  expect(spans.map(({ name }) => name)).toEqual(["inner", "outer", "goes on"]);
});

test("a caller who says that its traces are recorded is believed up to a rate, a delegate always, and failures are kept", async () => {
  vi.useFakeTimers({ toFake: ["performance"] }); // so that no second passes
  const spans = await spansOf(async () => {
    await using bus = createMemoryBus();
    const validateInput = Object.assign((_: unknown): boolean => true, { errors: null }) as never;
    const definition = { name: "count", description: "", inputSchema: { type: "object" }, readOnly: true };
    const count = defineTool({ ...definition, idempotent: true, validateInput }, async (input: { fails?: boolean }) => {
      if (input.fails === true) throw new ToolError("unavailable", "Not now");
      return "";
    });
    const { promise: answered, resolve } = Promise.withResolvers<void>();
    let answers = 0;
    await using _answers = await bus.subscribe({ name: "answers", topics: ["tool.result.#"] }, async () => {
      if (++answers === 241) resolve();
    });
    await using _ = await serveTools(bus, { tools: [count], guides: [] }, { service: "tests" });
    const call = (source: string, { fails = false, behalf }: { fails?: boolean; behalf?: string } = {}) => {
      const toolCallId = newId();
      const request = { toolCallId, toolName: "count", arguments: JSON.stringify({ fails }), sessionId: null };
      const headers = {
        traceparent: `00-${newId().replaceAll("-", "")}-${CALLER}-01`,
        ...(behalf === undefined ? {} : { [Header.OnBehalfOf]: behalf }),
      };
      const envelope = createEnvelope({
        topic: "tool.invoke.tests",
        type: messages.ToolInvokeRequest.type,
        source,
        body: encodeMessage("ToolInvokeRequest", request),
        correlationId: toolCallId,
        replyTo: `tool.result.${source}`,
        headers,
      });
      return bus.publish(envelope, { isTraced: false });
    };
    for (let index = 0; index < 120; index++) await call("stranger");
    for (let index = 0; index < 120; index++) await call("gateway", { behalf: "somebody" });
    await call("stranger", { fails: true });
    await answered; // a poll would move the clock
  }, 0);

  const consumed = spans.filter(({ kind }) => kind === "consumer");
  expect(consumed.filter(({ attributes }) => attributes["rockbot.trace.kept"] === undefined)).toHaveLength(220);
  expect(consumed.filter(({ attributes }) => attributes["rockbot.trace.kept"] === "error")).toMatchObject([
    { name: "execute_tool count", attributes: { "error.type": "unavailable", "rockbot.tool.status": "unavailable" } },
  ]);
});
