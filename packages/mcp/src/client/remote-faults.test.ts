import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type FaultAnswer, freePort, httpFaults, startFaultHttpServer, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { callTool, startServer, until } from "./test-servers.ts";

const remote = (url: string, headers: Record<string, string> = {}) => ({ type: "http", url, headers }) as const;

const TIMEOUT_MS = 30_000;
const mayHaveRun = {
  code: "outcome_unknown",
  message: expect.stringContaining("find out before"),
  details: { mayHaveRun: true },
};
const noAnswer = {
  code: "outcome_unknown",
  isRetryable: false,
  details: { mayHaveRun: true },
  message: expect.stringContaining("find out before"),
};

test.each<[string, FaultAnswer, object]>([
  ["401", httpFaults.status(401), { code: "unavailable", isRetryable: false }],
  ["403", httpFaults.status(403), { code: "unavailable", isRetryable: false }],
  [
    "429",
    httpFaults.status(429, { "retry-after": "7" }),
    { code: "rate_limited", retryAfterMs: 7_000, details: { mayHaveRun: false } },
  ],
  [
    "503",
    httpFaults.status(503, { "retry-after": "3" }),
    { code: "unavailable", retryAfterMs: 3_000, details: { mayHaveRun: false } },
  ],
  [
    "429 with a wait below nothing",
    httpFaults.status(429, { "retry-after": "-3600" }),
    { code: "rate_limited", retryAfterMs: 1_000 },
  ],
  ["500", httpFaults.status(500), mayHaveRun],
  ...[301, 302, 307, 308].map((status): [string, FaultAnswer, object] => [
    `a redirect to another host by ${status}`,
    httpFaults.status(status, { location: "http://169.254.169.254/latest" }),
    {
      code: "unavailable",
      isRetryable: false,
      message: expect.stringContaining("was not run"),
      details: { mayHaveRun: false },
    },
  ]),
  ["303", httpFaults.status(303), mayHaveRun],
  [
    "400",
    httpFaults.status(400),
    { code: "execution_failed", message: expect.stringContaining("was not run"), details: { mayHaveRun: false } },
  ],
  ["408", httpFaults.status(408), mayHaveRun],
  [
    "a connection that is reset",
    httpFaults.reset,
    { code: "outcome_unknown", isRetryable: false, details: { mayHaveRun: true } },
  ],
  ["something that is not JSON", httpFaults.noJson, { code: "execution_failed", details: { mayHaveRun: true } }],
  ["a stream that never ends", httpFaults.endless, { code: "timeout", details: { mayHaveRun: true } }],
  [
    "an event that never ends",
    httpFaults.endlessEvent,
    { code: expect.stringMatching(/^(timeout|outcome_unknown|too_large)$/) },
  ],
  ["a stream that is cut", httpFaults.cutStream, noAnswer],
  ["a stream that ends without an answer", httpFaults.events(": begun\n\n"), noAnswer],
  [
    "a stream with the answer to another request",
    httpFaults.events('data: {"jsonrpc":"2.0","id":4711,"result":{}}\n\n'),
    noAnswer,
  ],
  [
    "a stream that cannot be gone on with",
    httpFaults.events('id: 7\ndata: {"jsonrpc":"2.0","method":"notifications/other"}\nretry: 10\n\n'),
    noAnswer,
  ],
  ["the answer to another request", httpFaults.body('{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}'), noAnswer],
  ["a list of answers to others", httpFaults.body('[{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}]'), noAnswer],
  ["an empty body of JSON", httpFaults.body(""), noAnswer],
  ["an empty body", httpFaults.status(200, { "content-length": "0" }, ""), noAnswer],
  ["202, as to a notification", httpFaults.status(202, {}, ""), noAnswer],
  ["204", httpFaults.status(204, {}, ""), noAnswer],
])("%s ends a call in words, once, and tells no secret", async (_, answer, expected) => {
  await using peer = await startFaultHttpServer();
  await using server = startServer(remote(peer.url, { authorization: "Bearer canary-token" }), {
    secrets: ["Bearer canary-token"],
  });
  await until(server, "ready");
  peer.answer = answer;
  const sentAt = performance.now();
  const error = await callTool(server, "act", {}, { timeoutMs: expected === noAnswer ? TIMEOUT_MS : 2_000 }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject(expected);
  if (expected === noAnswer) expect(performance.now() - sentAt).toBeLessThan(TIMEOUT_MS / 2);
  expect(String((error as Error).message)).not.toMatch(/canary|169\.254|127\.0\.0\.1/);
  expect(peer.calls).toBe(1);
  peer.answer = httpFaults.ok;
  expect(await callTool(server, "act")).toMatchObject({ content: "fine" });
});

test("a stream that ended is gone on with from its last event, if the server named one", async () => {
  await using peer = await startFaultHttpServer();
  await using server = startServer(remote(peer.url));
  await until(server, "ready");
  peer.answer = (response, request, id) => {
    peer.resume = (resumed) =>
      httpFaults.events(`data: {"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"later"}]}}\n\n`)(
        resumed,
        request,
        id,
      );
    httpFaults.events('id: 7\nretry: 10\ndata: {"jsonrpc":"2.0","method":"notifications/other"}\n\n')(
      response,
      request,
      id,
    );
  };
  expect(await callTool(server, "act")).toMatchObject({ content: "later" });
  expect([peer.calls, peer.resumedFrom]).toEqual([1, ["7"]]);
});

test("a second answer to the same request changes nothing", async () => {
  await using peer = await startFaultHttpServer();
  await using server = startServer(remote(peer.url));
  await until(server, "ready");
  peer.answer = (response, request, id) => {
    const answer = (text: string) =>
      `data: {"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${text}"}]}}\n\n`;
    httpFaults.events(answer("first") + answer("second"))(response, request, id);
  };
  for (let times = 0; times < 3; times++) expect(await callTool(server, "act")).toMatchObject({ content: "first" });
});

test("a session that the server has forgotten is made anew, and the call that it refused is sent again", async () => {
  await using peer = await startFaultHttpServer();
  await using server = startServer(remote(peer.url));
  await until(server, "ready");
  peer.answer = (response, request, id) => {
    peer.answer = httpFaults.ok;
    httpFaults.status(404)(response, request, id);
  };
  expect(await callTool(server, "act")).toMatchObject({ content: "fine" });
  expect(peer.calls).toBe(2);
});

/**
 * A server with sessions, which it forgets as one does that is started anew. `refuse` is how it answers to a session
 * that it does not know.
 */
async function startSessionServer(refuse: (response: ServerResponse, id: unknown) => void) {
  const sessions = new Set<string>();
  const state = { effects: 0, isBroken: false };
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method } = JSON.parse(await text(request)) as { readonly id?: number; readonly method: string };
    const answer = (result: object): void =>
      void response.setHeader("content-type", "application/json").end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    if (method === "initialize") {
      const session = randomUUID();
      sessions.add(session);
      response.setHeader("mcp-session-id", session);
      return answer({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "sessions", version: "1" },
      });
    }
    const session = request.headers["mcp-session-id"];
    if (session === undefined) return void response.writeHead(400).end(); // the question for the era
    if (!sessions.has(String(session))) return refuse(response, id);
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/list")
      return answer({
        tools: [{ name: "act", inputSchema: { type: "object" }, annotations: { idempotentHint: true } }],
      });
    if (method !== "tools/call") return answer({});
    state.effects++;
    if (state.isBroken) return void response.writeHead(500).end("oops");
    answer({ content: [{ type: "text", text: "fine" }] });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(state, {
    address: remote(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    forget: () => sessions.clear(),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  });
}

const status = (code: number, body: string) => (response: ServerResponse) => void response.writeHead(code).end(body);
const rpcError = (response: ServerResponse, id: unknown): void =>
  void response
    .setHeader("content-type", "application/json")
    .end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32001, message: "Session not found" } }));

test.each<[string, Parameters<typeof startSessionServer>[0], "again" | "open"]>([
  ["404", status(404, "Not Found"), "again"],
  ["400 that names the session", status(400, "Bad Request: No valid session ID provided"), "again"],
  ["410 that names the session", status(410, "The session has ended"), "again"],
  ["400", status(400, "Bad Request"), "open"],
  ["410", status(410, "Gone"), "open"],
  ["401", status(401, ""), "open"],
  ["500", status(500, "oops"), "open"],
  ["the error -32001", rpcError, "open"],
])(
  "a server that was started anew and answers %s gets a new session; the call is sent again only where it surely did not run",
  async (_, refuse, then) => {
    await using peer = await startSessionServer(refuse);
    await using server = startServer(peer.address);
    await until(server, "ready");
    peer.forget();

    const first = await callTool(server, "act").catch((error: unknown) => error);
    expect(first).toMatchObject(
      then === "again" ? { content: "fine" } : { code: "outcome_unknown", details: { mayHaveRun: true } },
    );
    expect(await callTool(server, "act")).toMatchObject({ content: "fine" });
    expect(peer.effects).toBe(then === "again" ? 2 : 1);
  },
);

test("a call that met a forgotten session is sent again if its tool may run twice", async () => {
  await using peer = await startSessionServer(status(500, "oops"));
  await using server = startServer(peer.address, { trustsAnnotations: true });
  await until(server, "ready");
  peer.forget();
  expect(await callTool(server, "act")).toMatchObject({ content: "fine" });
});

test("a server that does what it is asked for and then answers 500 does it once", async () => {
  await using peer = await startSessionServer(status(404, ""));
  await using server = startServer(peer.address);
  await until(server, "ready");
  peer.isBroken = true;
  await expect(callTool(server, "act")).rejects.toMatchObject({
    code: "outcome_unknown",
    details: { mayHaveRun: true },
  });
  expect(peer.effects).toBe(1);
  expect(server.health).toMatchObject({ state: "ready", failures: 0 });
});

test("configured headers go with each request, and with none to another host", async () => {
  await using elsewhere = await startPageServer({});
  await using peer = await startFaultHttpServer();
  await using server = startServer(remote(peer.url, { authorization: "Bearer token-of-ours" }));
  expect(await callTool(server, "act")).toMatchObject({ content: "fine" });
  peer.answer = httpFaults.redirect(`${elsewhere.url}/stolen`);
  await expect(callTool(server, "act")).rejects.toMatchObject({ code: "unavailable" });
  expect(new Set(peer.authorizations)).toEqual(new Set(["Bearer token-of-ours"]));
  expect(elsewhere.requests).toEqual([]);
});

test.each([
  ["nothing listens", (port: number) => `http://127.0.0.1:${port}`, /^127\.0\.0\.1:\d+ refuses .*\(ECONNREFUSED\)$/],
  [
    "nothing listens, for a WebSocket",
    (port: number) => `ws://127.0.0.1:${port}`,
    /^127\.0\.0\.1:\d+ refuses .*\(ECONNREFUSED\)$/,
  ],
  [
    "no such name exists",
    (port: number) => `http://gone.invalid:${port}`,
    /^gone\.invalid:\d+ (is not found|cannot be looked up).*\)$/,
  ],
] as const)("the reason names host, port and cause where %s", async (_, urlAt, reason) => {
  const url = urlAt(await freePort());
  const address = { type: url.startsWith("ws") ? "websocket" : "auto", url: `${url}/mcp`, headers: {} } as const;
  await using server = startServer(address, {}, { backOffMs: [60_000] });
  await until(server, "failing");
  expect(server.health.lastFailure?.replace("it cannot be connected: ", "")).toMatch(reason);
});
