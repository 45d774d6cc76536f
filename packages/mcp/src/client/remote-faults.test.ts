import { type FaultAnswer, freePort, httpFaults, startFaultHttpServer, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { callTool, startServer, until } from "./test-servers.ts";

const remote = (url: string, headers: Record<string, string> = {}) => ({ type: "http", url, headers }) as const;

const TIMEOUT_MS = 30_000;
const mayHaveRun = { code: "execution_failed", message: expect.stringContaining("may have run"), details: { mayHaveRun: true } };
const noAnswer = { code: "outcome_unknown", isRetryable: false, details: { mayHaveRun: true }, message: expect.stringContaining("find out before") };

test.each<[string, FaultAnswer, object]>([
  ["401", httpFaults.status(401), { code: "unavailable", isRetryable: false }],
  ["403", httpFaults.status(403), { code: "unavailable", isRetryable: false }],
  ["429", httpFaults.status(429, { "retry-after": "7" }), { code: "rate_limited", retryAfterMs: 7_000, details: { mayHaveRun: false } }],
  ["503", httpFaults.status(503, { "retry-after": "3" }), { code: "unavailable", retryAfterMs: 3_000, details: { mayHaveRun: false } }],
  ["429 with a wait below nothing", httpFaults.status(429, { "retry-after": "-3600" }), { code: "rate_limited", retryAfterMs: 1_000 }],
  ["500", httpFaults.status(500), mayHaveRun],
  ...[301, 302, 307, 308].map((status): [string, FaultAnswer, object] => [
    `a redirect to another host by ${status}`,
    httpFaults.status(status, { location: "http://169.254.169.254/latest" }),
    { code: "unavailable", isRetryable: false, message: expect.stringContaining("was not run"), details: { mayHaveRun: false } },
  ]),
  ["303", httpFaults.status(303), mayHaveRun],
  ["400", httpFaults.status(400), { code: "execution_failed", message: expect.stringContaining("was not run"), details: { mayHaveRun: false } }],
  ["408", httpFaults.status(408), mayHaveRun],
  ["a connection that is reset", httpFaults.reset, { code: "outcome_unknown", isRetryable: false, details: { mayHaveRun: true } }],
  ["something that is no JSON", httpFaults.noJson, { code: "execution_failed", details: { mayHaveRun: true } }],
  ["a stream that never ends", httpFaults.endless, { code: "timeout", details: { mayHaveRun: true } }],
  ["an event that never ends", httpFaults.endlessEvent, { code: expect.stringMatching(/^(timeout|outcome_unknown|too_large)$/) }],
  ["a stream that is cut", httpFaults.cutStream, noAnswer],
  ["a stream that ends without an answer", httpFaults.events(": begun\n\n"), noAnswer],
  ["a stream with the answer to another request", httpFaults.events('data: {"jsonrpc":"2.0","id":4711,"result":{}}\n\n'), noAnswer],
  ["a stream that cannot be gone on with", httpFaults.events('id: 7\ndata: {"jsonrpc":"2.0","method":"notifications/other"}\nretry: 10\n\n'), noAnswer],
  ["the answer to another request", httpFaults.body('{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}'), noAnswer],
  ["a list of answers to others", httpFaults.body('[{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}]'), noAnswer],
  ["an empty body of JSON", httpFaults.body(""), noAnswer],
  ["an empty body", httpFaults.status(200, { "content-length": "0" }, ""), noAnswer],
  ["202, as to a notification", httpFaults.status(202, {}, ""), noAnswer],
  ["204", httpFaults.status(204, {}, ""), noAnswer],
])("%s ends a call in words, once, and tells no secret", async (_, answer, expected) => {
  await using peer = await startFaultHttpServer();
  await using server = startServer(remote(peer.url, { authorization: "Bearer canary-token" }), { secrets: ["Bearer canary-token"] });
  await until(server, "ready");
  peer.answer = answer;
  const sentAt = performance.now();
  const error = await callTool(server, "act", {}, { timeoutMs: expected === noAnswer ? TIMEOUT_MS : 2_000 }).catch((thrown: unknown) => thrown);
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
      httpFaults.events(`data: {"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"later"}]}}\n\n`)(resumed, request, id);
    httpFaults.events('id: 7\nretry: 10\ndata: {"jsonrpc":"2.0","method":"notifications/other"}\n\n')(response, request, id);
  };
  expect(await callTool(server, "act")).toMatchObject({ content: "later" });
  expect([peer.calls, peer.resumedFrom]).toEqual([1, ["7"]]);
});

test("a second answer to the same request changes nothing", async () => {
  await using peer = await startFaultHttpServer();
  await using server = startServer(remote(peer.url));
  await until(server, "ready");
  peer.answer = (response, request, id) => {
    const answer = (text: string) => `data: {"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${text}"}]}}\n\n`;
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

test("a server that is not there is tried again, and calls are refused", async () => {
  const port = await freePort();
  await using server = startServer(remote(`http://127.0.0.1:${port}/mcp`), {}, { backOffMs: [60_000] });
  await until(server, "failing");
  expect(server.health.lastFailure).toContain("ECONNREFUSED");
});
