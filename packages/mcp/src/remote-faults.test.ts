import { type FaultAnswer, freePort, httpFaults, startFaultHttpServer, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { callTool, startServer, until } from "./test-servers.ts";

const remote = (url: string, headers: Record<string, string> = {}) => ({ type: "http", url, headers }) as const;

test.each<[string, FaultAnswer, object]>([
  ["401", httpFaults.status(401), { code: "unavailable", isRetryable: false }],
  ["403", httpFaults.status(403), { code: "unavailable", isRetryable: false }],
  ["429", httpFaults.status(429, { "retry-after": "7" }), { code: "rate_limited", retryAfterMs: 7_000, details: { mayHaveRun: false } }],
  ["503", httpFaults.status(503, { "retry-after": "3" }), { code: "unavailable", retryAfterMs: 3_000, details: { mayHaveRun: false } }],
  ["500", httpFaults.status(500), { code: "execution_failed", details: { mayHaveRun: true } }],
  ["a redirect to another host", httpFaults.redirect("http://169.254.169.254/latest"), { code: "execution_failed" }],
  ["a connection that is reset", httpFaults.reset, { code: "outcome_unknown", isRetryable: false, details: { mayHaveRun: true } }],
  ["something that is no JSON", httpFaults.noJson, { code: "execution_failed", details: { mayHaveRun: true } }],
  ["a stream that never ends", httpFaults.endless, { code: "timeout", details: { mayHaveRun: true } }],
  ["an event that never ends", httpFaults.endlessEvent, { code: expect.stringMatching(/^(timeout|outcome_unknown|too_large)$/) }],
  ["a stream that is cut", httpFaults.cutStream, { code: expect.stringMatching(/^(timeout|outcome_unknown)$/), details: { mayHaveRun: true } }],
])("%s ends a call in words, once, and tells no secret", async (_, answer, expected) => {
  await using peer = await startFaultHttpServer();
  await using server = startServer(remote(peer.url, { authorization: "Bearer canary-token" }), { secrets: ["Bearer canary-token"] });
  await until(server, "ready");
  peer.answer = answer;
  const error = await callTool(server, "act", {}, { timeoutMs: 2_000 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject(expected);
  expect(String((error as Error).message)).not.toMatch(/canary|169\.254|127\.0\.0\.1/);
  expect(peer.calls).toBe(1);
  peer.answer = httpFaults.ok;
  expect(await callTool(server, "act")).toMatchObject({ content: "fine" });
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
  await expect(callTool(server, "act")).rejects.toMatchObject({ code: "execution_failed" });
  expect(new Set(peer.authorizations)).toEqual(new Set(["Bearer token-of-ours"]));
  expect(elsewhere.requests).toEqual([]);
});

test("a server that is not there is tried again, and calls are refused", async () => {
  const port = await freePort();
  await using server = startServer(remote(`http://127.0.0.1:${port}/mcp`), {}, { backOffMs: [60_000] });
  await until(server, "failing");
  expect(server.health.lastFailure).toContain("ECONNREFUSED");
});
