import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { context, propagation, TraceFlags, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { silentLogger } from "@rockbot/bus";
import { expect, onTestFinished, test } from "vitest";
import { createToolServer } from "./create-tool-server.ts";
import type { OfferedCall, ToolSource } from "./tool-source.ts";

/** A client of one tool, which does what the test says. */
async function connect(
  call: (args: object, call: OfferedCall) => string,
  parameters: object = { type: "object" },
): Promise<Client> {
  const tool = {
    name: "tool",
    description: "A tool.",
    parameters,
    output: { type: "array" },
    readOnly: false,
    idempotent: true,
  };
  const source: ToolSource = {
    maxTimeoutMs: 1_000,
    listTools: async () => [tool],
    findTool: async (name) => (name === tool.name ? tool : undefined),
    getGuides: async () => [],
    toolCallIdOf: (key) => `id of ${key}`,
    call: async (toolName, args, offered) => ({
      toolCallId: offered.toolCallId,
      toolName,
      content: call(args, offered),
    }),
  };
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = createToolServer(source, { version: "1.0.0", log: silentLogger });
  await server.connect(ours as Parameters<typeof server.connect>[0]);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(theirs);
  onTestFinished(() => client.close());
  return client;
}

test("a call is part of the trace that its request names", async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  onTestFinished(() => {
    propagation.disable();
    context.disable();
  });
  const client = await connect(() => JSON.stringify(trace.getSpanContext(context.active()) ?? {}));
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const called = async (traceparent?: unknown) => {
    const { content } = await client.callTool({ name: "tool", _meta: { traceparent } });
    return JSON.parse((content[0] as { text: string }).text) as unknown;
  };

  expect(await called(`00-${traceId}-b7ad6b7169203331-01`)).toMatchObject({
    traceId,
    spanId: "b7ad6b7169203331",
    traceFlags: TraceFlags.SAMPLED,
  });
  for (const nonsense of ["00-zero-zero-01", 7, undefined])
    expect(await called(nonsense)).not.toMatchObject({ traceFlags: TraceFlags.SAMPLED });
});

test("what a request says of its call reaches the call", async () => {
  const client = await connect((args, { signal, onProgress, ...call }) =>
    JSON.stringify({ args, ...call, hasSignal: signal?.aborted === false, onProgress }),
  );
  const _meta = {
    "rockbot/idempotencyKey": "k",
    "rockbot/timeoutMs": 1_000,
    "rockbot/sessionId": "s",
    "rockbot/untrusted": true,
  };
  const { content } = await client.callTool({ name: "tool", arguments: { a: 1 }, _meta });

  expect(JSON.parse((content[0] as { text: string }).text)).toEqual({
    args: { a: 1 },
    toolCallId: "id of k",
    isKeyed: true,
    timeoutMs: 1_000,
    sessionId: "s",
    asksCaller: false,
    hasReadUntrusted: true,
    hasSignal: true,
  });
});

test("a tool whose schema says less than the protocol wants is listed in its form", async () => {
  const client = await connect(() => "", {});
  const { tools } = await client.listTools();

  expect(tools).toMatchObject([
    { name: "tool", inputSchema: { type: "object" }, annotations: { readOnlyHint: false, idempotentHint: true } },
  ]);
  expect(tools[0]?.outputSchema).toMatchObject({ type: "object" }); // the older era has no other
});
