import { trace } from "@opentelemetry/api";
import { createMemoryBus } from "@rockbot/bus";
import { createEnvelope } from "@rockbot/contracts";
import { startTelemetry } from "@rockbot/process/telemetry";
import { expect, test } from "vitest";

test("a message carries the trace it is published in, unless its publisher wants none", async () => {
  await using _telemetry = await startTelemetry({ service: "example", logLevel: "silent" });
  await using bus = createMemoryBus();
  const carried: (string | undefined)[] = [];
  await using _subscription = await bus.subscribe({ name: "traced", topics: ["a.b"] }, async ({ headers }) => {
    carried.push(headers["traceparent"]?.split("-")[1]);
  });

  const traceId = await trace.getTracer("test").startActiveSpan("outer", async (span) => {
    for (const options of [{}, { isTraced: true }, { isTraced: false }]) {
      await bus.publish(
        createEnvelope({ topic: "a.b", type: "Test", source: "test", body: Buffer.from("{}") }),
        options,
      );
    }
    return span.spanContext().traceId;
  });

  await expect.poll(() => carried).toEqual([traceId, traceId, undefined]);
});
