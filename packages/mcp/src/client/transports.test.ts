import { context, propagation, TraceFlags, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { describe, expect, test } from "vitest";
import { peers } from "./test-peers.ts";
import { callTool, startServer, until, when } from "./test-servers.ts";

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";

/** Each transport with each era that is spoken over it. */
const matrix = [
  ["stdio, newer era", peers.stdioModern, MODERN, "stdio"],
  ["stdio, older era", peers.stdioLegacy, LEGACY, "stdio"],
  ["Streamable HTTP, newer era", peers.httpModern, MODERN, "http"],
  ["Streamable HTTP with sessions, older era", peers.httpLegacy, LEGACY, "http"],
  ["SSE, older era", peers.sse, LEGACY, "sse"],
  ["SSE found by itself, older era", peers.sseByAuto, LEGACY, "sse"],
  ["WebSocket, older era", peers.webSocket, LEGACY, "websocket"],
] as const;

describe.each(matrix)("over %s", (_, startPeer, version, transport) => {
  test("tools are listed and called, with structured content and failures of their own", async () => {
    await using peer = await startPeer();
    await using server = startServer(peer.address);
    await until(server, "ready");
    expect(server.health).toMatchObject({ state: "ready", protocolVersion: version, transport });
    expect(server.instructions?.description).toBe("Made for tests.");
    expect(server.tools.find(({ name }) => name === "echo")).toMatchObject({
      description: "Echoes.",
      annotations: { readOnly: true, idempotent: false },
    });
    expect(server.tools.find(({ name }) => name === "sum")).toMatchObject({
      outputSchema: { properties: { sum: { type: "number" } } },
    });
    expect(await callTool(server, "echo", { text: "ü" })).toEqual({ content: '{"text":"ü"}', isError: false });
    expect(await callTool(server, "sum", { a: 1, b: 2 })).toEqual({
      content: "3",
      structured: { sum: 3 },
      isError: false,
    });
    expect(await callTool(server, "fail")).toEqual({ content: "no luck", isError: true });
  });

  test("progress passes through", async () => {
    await using peer = await startPeer();
    await using server = startServer(peer.address);
    const updates: object[] = [];
    expect(await callTool(server, "count", {}, { onProgress: (update) => updates.push(update) })).toMatchObject({
      content: "counted",
    });
    expect(updates.slice(0, 2)).toMatchObject([
      { progress: 1, total: 3, message: "step 1" },
      { progress: 2, total: 3 },
    ]); // the last one may be overtaken by the result
  });

  test("cancellation passes through", async () => {
    await using peer = await startPeer();
    await using server = startServer(peer.address);
    const before = Number((await callTool(server, "waits")).content);
    await expect(callTool(server, "wait", {}, { timeoutMs: 400 })).rejects.toMatchObject({ code: "timeout" });
    await expect.poll(async () => Number((await callTool(server, "waits")).content)).toBe(before + 1);
  });

  test("arguments that the server refuses, and a tool that it does not have", async () => {
    await using peer = await startPeer();
    await using server = startServer(peer.address);
    const refused = await callTool(server, "sum", { a: "one" }).catch((error: unknown) => error);
    expect(refused).toMatchObject(refused instanceof Error ? { code: "invalid_arguments" } : { isError: true });
    const missing = await callTool(server, "no_such_tool").catch((error: unknown) => error);
    expect(missing).toMatchObject(missing instanceof Error ? { code: "tool_not_found" } : { isError: true });
  });
});

test.each([
  ["SSE", peers.sse],
  ["WebSocket", peers.webSocket],
  ["Streamable HTTP with sessions", peers.httpLegacy],
])("a tool that comes later is listed over %s", async (_, startPeer) => {
  await using peer = await startPeer();
  await using server = startServer(peer.address);
  await callTool(server, "grow");
  await when(server, () => server.tools.some(({ name }) => name === "grown"));
});

test("a tool that comes later is listed over Streamable HTTP in the newer era", async () => {
  await using peer = await peers.httpModern();
  await using server = startServer(peer.address);
  await until(server, "ready");
  peer.grow?.();
  await when(server, () => server.tools.some(({ name }) => name === "grown"));
});

test("the trace of the call goes with it, and its span says that it is a call of an MCP server", async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  await using peer = await peers.stdioModern();
  await using server = startServer(peer.address);
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const spanContext = { traceId, spanId: "b7ad6b7169203331", traceFlags: TraceFlags.SAMPLED };
  const said: Record<string, unknown> = {};
  const setAttributes = (attributes: object) => Object.assign(said, attributes);
  const span = Object.assign(trace.wrapSpanContext(spanContext), { setAttributes });
  const { content } = await context.with(trace.setSpan(context.active(), span), () => callTool(server, "meta"));
  context.disable();
  propagation.disable();
  expect(JSON.parse(content ?? "{}")).toMatchObject({ traceparent: `00-${traceId}-b7ad6b7169203331-01` });
  expect(said).toEqual({
    "mcp.method.name": "tools/call",
    "mcp.protocol.version": "2026-07-28",
    "network.transport": "pipe",
  });
});

test("a real server with everything: each kind of content arrives, and nothing vanishes", async () => {
  await using peer = await peers.stdioEverything();
  await using server = startServer(peer.address);
  const image = await callTool(server, "get-tiny-image");
  expect(image.content).toMatch(/\[image image\/png, \d+ bytes: structured\.\$content\[0\]\]/);
  expect(image.structured).toMatchObject({
    $content: [{ type: "image", mimeType: "image/png", data: expect.any(String) }],
  });
  const links = await callTool(server, "get-resource-links", { count: 2 });
  expect(links.structured).toMatchObject({ $content: [{ type: "resource_link" }, { type: "resource_link" }] });
  const resource = await callTool(server, "get-resource-reference", { resourceType: "Text", resourceId: 1 });
  expect(resource.content).toContain("This is a plaintext resource");
  expect(resource.structured).toMatchObject({
    $content: [{ type: "resource", resource: { uri: "demo://resource/dynamic/text/1" } }],
  });
  expect(await callTool(server, "get-structured-content", { location: "New York" })).toMatchObject({
    structured: { conditions: expect.any(String) },
  });
});
