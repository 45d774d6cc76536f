import { startTelemetry } from "@rockbot/process/telemetry";
import { startOtlpCollector } from "@rockbot/testing";
import { expect, test, vi } from "vitest";
import { mcpHeaders, message, openSession, postMcp } from "../mcp/test-messages.ts";
import { startTestGateway } from "../test-gateway.ts";

test("a request is a span of its client's trace, named by its route, and the call's spans lie below it", async () => {
  await using collector = await startOtlpCollector();
  for (const [name, value] of Object.entries(collector.env)) vi.stubEnv(name, value);
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  {
    await using telemetry = await startTelemetry({ service: "gateway", logLevel: "silent" });
    await using gateway = await startTestGateway();
    await gateway.invoke("echo", {}, { traceparent: `00-${traceId}-b7ad6b7169203331-01` });
    await gateway.invoke("echo", {}, { traceparent: "00-nonsense", accept: "text/event-stream" });
    expect(await telemetry.metricsText()).toMatch(
      /rockbot_gateway_request_duration\w*_count\{[^}]*route="\/v1\/tools\/:name\/invoke"[^}]*status="200"[^}]*\} 2/,
    );
  }
  vi.unstubAllEnvs();
  const spans = collector.spans().filter((span) => span.traceId === traceId);
  const root = spans.find(({ name }) => name === "POST /v1/tools/:name/invoke");

  expect(root).toMatchObject({ parentSpanId: "b7ad6b7169203331" });
  expect(spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId).length).toBeGreaterThan(0);
  expect(collector.spans().filter(({ name }) => name === "POST /v1/tools/:name/invoke")).toHaveLength(2);
});

test("a call of an MCP client has two spans here: in its request's span, or in one of its own where the client names its trace", async () => {
  await using collector = await startOtlpCollector();
  for (const [name, value] of Object.entries(collector.env)) vi.stubEnv(name, value);
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  {
    await using _telemetry = await startTelemetry({ service: "gateway", logLevel: "silent" });
    await using gateway = await startTestGateway();
    const session = await openSession(gateway);
    for (const _meta of [{}, { traceparent: `00-${traceId}-b7ad6b7169203331-01` }])
      await postMcp(
        gateway,
        message(2, "tools/call", { name: "echo", arguments: { text: "a" }, _meta }),
        mcpHeaders({ session }),
      );
  }
  vi.unstubAllEnvs();
  const called = collector.spans().filter(({ kind }) => kind === "producer");
  const parents = called.map(({ parentSpanId }) => collector.spans().find(({ spanId }) => spanId === parentSpanId));
  const mcp = { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "echo" };
  expect(called.map(({ name }) => name)).toEqual(["execute_tool echo", "execute_tool echo"]);
  expect(parents).toMatchObject([
    { name: "POST /mcp", kind: "server", attributes: mcp },
    { name: "tools/call echo", kind: "server", attributes: mcp, traceId, parentSpanId: "b7ad6b7169203331" },
  ]);
});

test("a client who says that its traces are recorded is believed up to a rate", async () => {
  vi.useFakeTimers({ toFake: ["performance"] }); // so that no second passes
  await using collector = await startOtlpCollector();
  for (const [name, value] of Object.entries(collector.env)) vi.stubEnv(name, value);
  {
    await using _telemetry = await startTelemetry({ service: "gateway", logLevel: "silent", traceRatio: 0 });
    await using gateway = await startTestGateway();
    for (let call = 0; call < 110; call++)
      await gateway.invoke("echo", {}, { traceparent: `00-${hex(call)}-b7ad6b7169203331-01` });
    await gateway.invoke("fail", { code: "timeout" }, { traceparent: `00-${hex(200)}-b7ad6b7169203331-01` });
  }
  vi.unstubAllEnvs();
  vi.useRealTimers();
  const requests = collector.spans().filter(({ kind }) => kind === "server");
  expect(requests.map(({ traceId }) => traceId)).toEqual(Array.from({ length: 100 }, (_, call) => hex(call)));
  expect(collector.spans().filter(({ traceId }) => traceId === hex(200))).toMatchObject([
    { name: "execute_tool fail", kind: "consumer", attributes: { "rockbot.trace.kept": "error" } },
    { name: "execute_tool fail", kind: "producer", attributes: { "rockbot.trace.kept": "error" } },
  ]);
});

const hex = (number: number): string => (number + 1).toString(16).padStart(32, "0");
