import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { defineTool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { loose, serveOne, startTestGateway } from "../test-gateway.ts";
import { openEventStream } from "./event-stream.ts";

const events = { accept: "text/event-stream" };
/** The stream's events as pairs; comments are left out. */
const eventsOf = (text: string): [string, Record<string, unknown>][] =>
  text
    .split("\n\n")
    .filter((block) => block.startsWith("event: "))
    .map((block) => {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      return [String(event), JSON.parse(String(data)) as Record<string, unknown>];
    });

/** A call whose connection can be closed. Resolves once the tool runs. */
async function startWaiting(gateway: Awaited<ReturnType<typeof startTestGateway>>, headers: Record<string, string>) {
  const call = request({
    host: "127.0.0.1",
    port: gateway.port,
    agent: false,
    method: "POST",
    path: "/v1/tools/wait/invoke",
    headers: { "content-type": "application/json", ...headers },
  });
  call.on("error", () => {}); // its connection is closed on purpose
  call.end('{"id":"left"}');
  await expect.poll(() => gateway.waiting).toEqual(["left"]);
  return call;
}

test("progress comes as events, then exactly one result", async () => {
  await using gateway = await startTestGateway();
  const answer = await gateway.invoke("steps", {}, events);
  const id = expect.stringMatching(/^[0-9a-f]{32}$/);

  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  expect(eventsOf(answer.text)).toEqual([
    ["progress", { toolCallId: id, toolName: "steps", progress: 1, total: 2, message: "half" }],
    ["result", { toolCallId: id, toolName: "steps", content: "done", isError: false }],
  ]);
});

test("a call that fails ends in exactly one error event", async () => {
  await using gateway = await startTestGateway();
  const answer = await gateway.invoke("fail", { code: "rate_limited", retryAfterMs: 1200 }, events);

  expect(eventsOf(answer.text)).toEqual([
    [
      "error",
      expect.objectContaining({ toolName: "fail", code: "rate_limited", isRetryable: true, retryAfterMs: 1200 }),
    ],
  ]);
});

test("a request that is refused before its call starts is answered by its status", async () => {
  await using gateway = await startTestGateway();
  const answer = await gateway.send(
    { path: "/v1/tools/echo/invoke", method: "POST", headers: { ...events, "content-type": "application/json" } },
    "[]",
  );

  expect([answer.status, answer.json?.["code"]]).toEqual([400, "invalid_arguments"]);
});

test("a result of megabytes comes whole", async () => {
  await using gateway = await startTestGateway();
  const [[event, data] = ["", {}]] = eventsOf((await gateway.invoke("large", {}, events)).text);

  expect([event, String(data["content"]).length]).toEqual(["result", 4 * 1024 * 1024]);
});

test.each([
  ["an answer", {}],
  ["events", events],
])("closing the connection of a call that waits for %s cancels the call", async (_, headers) => {
  await using gateway = await startTestGateway();
  const call = await startWaiting(gateway, headers);
  call.destroy();

  await expect.poll(() => gateway.aborted, { timeout: 2000 }).toEqual(["left"]);
});

test("places are free again after clients have left", async () => {
  await using gateway = await startTestGateway({ maxConcurrent: 1 });
  const call = await startWaiting(gateway, events);
  call.destroy();

  await expect.poll(async () => (await gateway.send({ path: "/v1/tools" })).status).toBe(200);
});

test("disposal lets a running request finish, and takes no new one", async () => {
  await using gateway = await startTestGateway();
  const running = gateway.invoke("soon", { ms: 300 });
  await expect.poll(() => gateway.waiting).toEqual(["soon"]);
  const stopped = gateway.gateway[Symbol.asyncDispose]();
  await expect(gateway.send({ path: "/healthz" })).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await stopped;

  expect(gateway.gateway.notReady()).toEqual(["the gateway is stopping"]);
  expect(await running).toMatchObject({ status: 200, json: { content: "done" } });
});

test("a request that outlasts the drain time is told so before its connection ends", async () => {
  await using gateway = await startTestGateway({ shutdownGraceMs: 200 });
  const running = [gateway.invoke("wait", { id: "plain" }), gateway.invoke("wait", { id: "stream" }, events)] as const;
  await expect.poll(() => gateway.waiting.length).toBe(2);
  await gateway.gateway[Symbol.asyncDispose]();
  const [plain, stream] = await Promise.all(running);

  expect(plain).toMatchObject({ status: 503, json: { code: "unavailable", details: { mayHaveRun: true } } });
  expect(eventsOf(stream.text)).toEqual([
    ["error", expect.objectContaining({ code: "unavailable", isRetryable: true })],
  ]);
  await expect.poll(() => gateway.aborted.length).toBe(2);
});

test("a call of a tool with effects that outlasts the drain time has an unknown outcome", async () => {
  await using gateway = await startTestGateway({ shutdownGraceMs: 200 });
  const begun = Promise.withResolvers<void>();
  const act = defineTool({ ...loose("act"), readOnly: false, idempotent: false }, async (_, { signal }) => {
    begun.resolve();
    return await new Promise<string>((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error)),
    );
  });
  await using _service = await serveOne(gateway.bus, act);
  await expect.poll(async () => (await gateway.send({ path: "/v1/tools" })).text).toContain('"act"');
  const running = gateway.invoke("act", {});
  await begun.promise;
  await gateway.gateway[Symbol.asyncDispose]();

  expect(await running).toMatchObject({
    status: 500,
    json: {
      code: "outcome_unknown",
      isRetryable: false,
      message: expect.stringContaining("Find out what it did"),
      details: { mayHaveRun: true },
    },
  });
});

test("comments keep a silent stream alive, and stop with it", async () => {
  const opened = Promise.withResolvers<ReturnType<typeof openEventStream>>();
  const server = createServer((_, response) =>
    opened.resolve(openEventStream(response, { keepAliveMs: 10, headers: {} })),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { body } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  let text = "";
  for await (const part of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.split("\n").length > 2 && !text.includes("event:")) (await opened.promise).end("result", {});
  }
  await new Promise((resolve) => server.close(resolve));

  expect(text).toMatch(/^(: keep-alive\n){2,}event: result\ndata: \{\}\n\n$/);
});

test("while a client does not read, only the latest progress is kept", async () => {
  const sent = 20_000;
  const server = createServer((_, response) => {
    const stream = openEventStream(response, { keepAliveMs: 1000, headers: {} });
    for (let i = 1; i <= sent; i++) stream.send("progress", { progress: i, message: "x".repeat(100) });
    stream.end("result", {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const events = eventsOf(await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text());
  await new Promise((resolve) => server.close(resolve));

  expect(events.length).toBeLessThan(sent / 10);
  expect(events.at(-2)?.[1]).toMatchObject({ progress: sent });
  expect(events.at(-1)?.[0]).toBe("result");
});
