import type { RequestOptions } from "node:http";
import { ConfigError } from "@rockbot/config";
import { expect, test } from "vitest";
import { type Answer, startTestGateway } from "./test-gateway.ts";

const token = "a-token-of-some-length";
const json = { "content-type": "application/json" };
const invoke = "/v1/tools/echo/invoke";
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

interface Row {
  readonly request: RequestOptions;
  readonly body?: string | Buffer;
  readonly status: number;
  readonly code?: string;
}
const get = (path: string, headers: Record<string, string> = {}): RequestOptions => ({ path, headers });
const post = (headers: Record<string, string>, path = invoke): RequestOptions => ({ method: "POST", path, headers });

const withoutToken: Record<string, Row> = {
  "loopback by number": { request: get("/v1/tools"), status: 200 },
  "loopback by name": { request: get("/v1/tools", { host: "localhost:8480" }), status: 200 },
  "loopback by name in capitals": { request: get("/v1/tools", { host: "LOCALHOST" }), status: 200 },
  "loopback of version 6": { request: get("/v1/tools", { host: "[::1]:8480" }), status: 200 },
  "an allowed host": { request: get("/v1/tools", { host: "Gateway.Internal:1" }), status: 200 },
  "a token nobody asked for": { request: get("/v1/tools", { authorization: "Bearer x" }), status: 200 },
  "a host rebound to us": { request: get("/v1/tools", { host: "evil.example" }), status: 403, code: "denied" },
  "a host that begins like ours": { request: get("/v1/tools", { host: "localhost.evil.example" }), status: 403, code: "denied" },
  "a host that ends like ours": { request: get("/v1/tools", { host: "evil-localhost" }), status: 403, code: "denied" },
  "a host with a user": { request: get("/v1/tools", { host: "evil@localhost" }), status: 400, code: "bad_request" },
  "another address of this machine": { request: get("/v1/tools", { host: "127.0.0.2" }), status: 403, code: "denied" },
  "a strange host in the request line": { request: get("http://evil.example/v1/tools", { host: "localhost" }), status: 403, code: "denied" },
  "a strange Host under our request line": { request: get("http://localhost/v1/tools", { host: "evil.example" }), status: 403, code: "denied" },
  "an allowed origin": { request: get("/v1/tools", { origin: "https://chat.example" }), status: 200 },
  "an allowed origin, spelled differently": { request: get("/v1/tools", { origin: "https://other.example" }), status: 200 },
  "an opaque origin": { request: get("/v1/tools", { origin: "null" }), status: 403, code: "denied" },
  "a strange origin": { request: get("/v1/tools", { origin: "https://evil.example" }), status: 403, code: "denied" },
  "our own address as origin": { request: get("/v1/tools", { origin: "http://localhost:8480" }), status: 403, code: "denied" },
  "an origin that begins like an allowed one": { request: get("/v1/tools", { origin: "https://chat.example.evil" }), status: 403, code: "denied" },
  "a preflight": {
    request: { method: "OPTIONS", path: invoke, headers: { origin: "https://chat.example", "access-control-request-method": "POST" } },
    status: 405,
    code: "method_not_allowed",
  },
  "no content type": { request: post({}), body: "{}", status: 415, code: "unsupported_media_type" },
  "a form": { request: post({ "content-type": "application/x-www-form-urlencoded" }), body: "a=1", status: 415, code: "unsupported_media_type" },
  "text, as a page may send unasked": { request: post({ "content-type": "text/plain" }), body: "{}", status: 415, code: "unsupported_media_type" },
  "a type that begins like JSON": { request: post({ "content-type": "application/jsonp" }), body: "{}", status: 415, code: "unsupported_media_type" },
  "JSON with a parameter": { request: post({ "content-type": "application/json; charset=utf-8" }), body: "{}", status: 200 },
  "a compressed body": { request: post({ ...json, "content-encoding": "gzip" }), body: "{}", status: 415, code: "unsupported_media_type" },
  "broken JSON": { request: post(json), body: '{"a":', status: 400, code: "invalid_arguments" },
  "JSON that is no object": { request: post(json), body: "[1]", status: 400, code: "invalid_arguments" },
  "bytes that are no text": { request: post(json), body: Buffer.from([0x7b, 0xff, 0x7d]), status: 400, code: "invalid_arguments" },
  "JSON of 64 levels": { request: post(json), body: nested(64), status: 200 },
  "JSON of 100000 levels": { request: post(json), body: nested(100_000), status: 400, code: "invalid_arguments" },
  "a key that reaches for the prototype": { request: post(json), body: '{"__proto__":{"a":1}}', status: 400, code: "invalid_arguments" },
  "a body that says it is too large": {
    request: post({ ...json, "content-length": String(1024 * 1024 + 1) }),
    body: Buffer.alloc(1024 * 1024 + 1, 32),
    status: 413,
    code: "too_large",
  },
  "a chunked body that turns out too large": {
    request: post({ ...json, "transfer-encoding": "chunked" }),
    body: Buffer.alloc(2 * 1024 * 1024, 32),
    status: 413,
    code: "too_large",
  },
  "a path that climbs": { request: get("/v1/../v1/tools"), status: 200 },
  "a path that climbs in disguise": { request: get("/v1/guides/..%2f..%2fetc%2fpasswd"), status: 404, code: "not_found" },
  "a path that climbs to health": { request: get("/healthz/../v1/guides/x"), status: 404, code: "not_found" },
  "a tool name with a slash in disguise": { request: post(json, "/v1/tools/a%2fb/invoke"), body: "{}", status: 404, code: "tool_not_found" },
  "a tool name with a zero byte": { request: post(json, "/v1/tools/a%00b/invoke"), body: "{}", status: 404, code: "tool_not_found" },
  "a tool name that is no UTF-8": { request: post(json, "/v1/tools/%ff/invoke"), body: "{}", status: 404, code: "tool_not_found" },
  "a tool name of 300 characters": { request: post(json, `/v1/tools/${"x".repeat(300)}/invoke`), body: "{}", status: 404, code: "tool_not_found" },
  "a tool name of Object": { request: post(json, "/v1/tools/constructor/invoke"), body: "{}", status: 404, code: "tool_not_found" },
  "a path that is not there": { request: get("/v2"), status: 404, code: "not_found" },
  "a backslash in the path": { request: get("/v1\\tools"), status: 400, code: "bad_request" },
  "a method that the path does not take": { request: { method: "DELETE", path: "/v1/tools" }, status: 405, code: "method_not_allowed" },
  "an invocation by GET": { request: get(invoke), status: 405, code: "method_not_allowed" },
  "headers that are too large": { request: get("/v1/tools", { cookie: "x".repeat(20_000) }), status: 431, code: "too_large" },
};

const withToken: Record<string, Row> = {
  "the token": { request: get("/v1/tools", { authorization: `Bearer ${token}` }), status: 200 },
  "the token, the scheme in lower case": { request: get("/v1/tools", { authorization: `bearer ${token}` }), status: 200 },
  "no token": { request: get("/v1/tools"), status: 401, code: "unauthorized" },
  "a wrong token": { request: get("/v1/tools", { authorization: `Bearer ${token}x` }), status: 401, code: "unauthorized" },
  "a part of the token": { request: get("/v1/tools", { authorization: `Bearer ${token.slice(0, -1)}` }), status: 401, code: "unauthorized" },
  "an empty token": { request: get("/v1/tools", { authorization: "Bearer " }), status: 401, code: "unauthorized" },
  "the token under another scheme": { request: get("/v1/tools", { authorization: `Basic ${token}` }), status: 401, code: "unauthorized" },
  "the token and more": { request: get("/v1/tools", { authorization: `Bearer ${token}, Bearer x` }), status: 401, code: "unauthorized" },
  "the token in the query": { request: get(`/v1/tools?access_token=${token}`), status: 401, code: "unauthorized" },
  "a call without token": { request: post(json), body: "{}", status: 401, code: "unauthorized" },
  "the document without token": { request: get("/openapi.json"), status: 401, code: "unauthorized" },
  "an unknown path without token": { request: get("/v2"), status: 401, code: "unauthorized" },
  "health with something behind it": { request: get("/healthz/x"), status: 401, code: "unauthorized" },
  "health in capitals": { request: get("/HEALTHZ"), status: 401, code: "unauthorized" },
  "a path that passes by health": { request: get("/healthz/%2e%2e/v1/tools"), status: 401, code: "unauthorized" },
  "the token, and a rebound host": { request: get("/v1/tools", { authorization: `Bearer ${token}`, host: "evil.example" }), status: 403, code: "denied" },
  "the token, and an opaque origin": { request: get("/v1/tools", { authorization: `Bearer ${token}`, origin: "null" }), status: 403, code: "denied" },
};

/** What every answer has in common: it is typed, it gives no page anything, and it tells nothing of our inside. */
function expectSafe({ headers, json, text, status }: Answer): void {
  expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  expect(headers["content-type"]).toMatch(/^application\/json/);
  expect(text).not.toMatch(/node_modules|\.ts:\d|\bat \w+ \(|a-token-of/);
  if (status >= 400)
    expect(json).toMatchObject({ code: expect.any(String), message: expect.stringMatching(/^Cannot |^There is no /), isRetryable: expect.any(Boolean) });
}

test.each(Object.entries(withoutToken))("without a token set: %s", async (_, { request, body, status, code }) => {
  await using gateway = await startTestGateway({ allowedHosts: ["gateway.internal"], allowedOrigins: ["https://chat.example", "HTTPS://Other.example:443"] });
  const answer = await gateway.send(request, body);

  expect([answer.status, answer.json?.["code"]]).toEqual([status, code]);
  expectSafe(answer);
});

test.each(Object.entries(withToken))("with a token set: %s", async (_, { request, body, status, code }) => {
  await using gateway = await startTestGateway({ gatewayToken: token });
  const answer = await gateway.send(request, body);

  expect([answer.status, answer.json?.["code"]]).toEqual([status, code]);
  if (status === 401) expect(answer.headers["www-authenticate"]).toBe('Bearer realm="rockbot"');
  expectSafe(answer);
});

test.each(["0.0.0.0", "::", "192.0.2.1", "gateway.example", "127.0.0.1.evil.example"])("listening on %s needs a token", async (host) => {
  await expect(startTestGateway({ host })).rejects.toThrow(ConfigError);
  await expect(startTestGateway({ host })).rejects.toThrow("gatewayToken: is required, since other machines can reach the host");
});

test("a body that comes too slowly is 408, and the connection ends", async () => {
  await using gateway = await startTestGateway({ requestTimeoutMs: 300 });
  const answer = await gateway.raw(`POST ${invoke} HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":`);

  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toContain('"code":"request_timeout"');
});

test("headers that never end are 408, and the connection ends", async () => {
  await using gateway = await startTestGateway({ requestTimeoutMs: 300 });

  expect(await gateway.raw("GET /v1/tools HTTP/1.1\r\nHost: localhost\r\nx-")).toMatch(/^HTTP\/1\.1 408 /);
});

test.each([
  ["a second Host", "GET /v1/tools HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nconnection: close\r\n\r\n"],
  ["what is not HTTP", "\x16\x03\x01 hello\r\n\r\n"],
  ["HTTP/1.1 without Host", "GET /v1/tools HTTP/1.1\r\nconnection: close\r\n\r\n"],
  ["HTTP/1.0 without Host", "GET /v1/tools HTTP/1.0\r\n\r\n"],
  ["two lengths", `POST ${invoke} HTTP/1.1\r\nHost: localhost\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
  ["a length and chunks", `POST ${invoke} HTTP/1.1\r\nHost: localhost\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["a header name with a space", "GET /v1/tools HTTP/1.1\r\nHost: localhost\r\nx y: 1\r\n\r\n"],
])("%s is 400, and the connection ends", async (_, text) => {
  await using gateway = await startTestGateway();
  const answer = await gateway.raw(text);

  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('"code":"bad_request"');
});

test("more requests than may run at once are told to come back", async () => {
  await using gateway = await startTestGateway({ maxConcurrent: 2 });
  const running = [1, 2].map((id) => gateway.invoke("wait", { id }, { "rockbot-timeout-ms": "1000" }));
  await expect.poll(() => gateway.waiting.length).toBe(2);
  const answer = await gateway.send({ path: "/v1/tools" });
  const health = await gateway.send({ path: "/healthz" });
  await Promise.all(running);

  expect([answer.status, answer.json?.["code"], answer.headers["retry-after"]]).toEqual([503, "overloaded", "1"]);
  expect(health.status).toBe(200);
  expect((await gateway.send({ path: "/v1/tools" })).status).toBe(200);
});
