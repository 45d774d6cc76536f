import { createHash } from "node:crypto";
import type { RequestOptions } from "node:http";
import { connect } from "node:net";
import { UnroutableError } from "@rockbot/bus";
import { createEnvelope } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { ConfigError } from "@rockbot/process/config";
import { expect, test } from "vitest";
import { type Answer, startTestGateway } from "./test-gateway.ts";

const token = "a-token-of-some-length";
const json = { "content-type": "application/json" };
const invoke = "/v1/tools/echo/invoke";
/** JSON of so many bytes. */
const filled = (bytes: number): string => `{"a":"${"x".repeat(bytes - 8)}"}`;
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
  "a host that begins like ours": {
    request: get("/v1/tools", { host: "localhost.evil.example" }),
    status: 403,
    code: "denied",
  },
  "a host that ends like ours": { request: get("/v1/tools", { host: "evil-localhost" }), status: 403, code: "denied" },
  "a host with a user": { request: get("/v1/tools", { host: "evil@localhost" }), status: 400, code: "bad_request" },
  "another address of this machine": { request: get("/v1/tools", { host: "127.0.0.2" }), status: 403, code: "denied" },
  "a strange host in the request line": {
    request: get("http://evil.example/v1/tools", { host: "localhost" }),
    status: 403,
    code: "denied",
  },
  "a strange Host under our request line": {
    request: get("http://localhost/v1/tools", { host: "evil.example" }),
    status: 403,
    code: "denied",
  },
  "an allowed origin": { request: get("/v1/tools", { origin: "https://chat.example" }), status: 200 },
  "an allowed origin, spelled differently": {
    request: get("/v1/tools", { origin: "https://other.example" }),
    status: 200,
  },
  "an opaque origin": { request: get("/v1/tools", { origin: "null" }), status: 403, code: "denied" },
  "a strange origin": { request: get("/v1/tools", { origin: "https://evil.example" }), status: 403, code: "denied" },
  "an address of this machine on another port as origin": {
    request: get("/v1/tools", { origin: "http://localhost:8480" }),
    status: 403,
    code: "denied",
  },
  "a host with a dot at its end": { request: get("/v1/tools", { host: "localhost." }), status: 403, code: "denied" },
  "a host on a port that is none": {
    request: get("/v1/tools", { host: "localhost:99999" }),
    status: 400,
    code: "bad_request",
  },
  "a host in a zone": { request: get("/v1/tools", { host: "[::1%25lo]" }), status: 400, code: "bad_request" },
  "a path that looks like a host": { request: get("//evil.example/v1/tools"), status: 404, code: "not_found" },
  "what cannot be expected": {
    request: post({ ...json, expect: "miracles" }),
    body: "{}",
    status: 417,
    code: "expectation_failed",
  },
  "a request to be sent back what was sent": {
    request: { method: "TRACE", path: "/v1/tools" },
    status: 405,
    code: "method_not_allowed",
  },
  "a path of 20 kB": { request: get(`/v1/tools?${"x".repeat(20_000)}`), status: 431, code: "too_large" },
  "an operator's path where there are no operators": {
    request: get("/operator/calls"),
    status: 404,
    code: "not_found",
  },
  "an origin that begins like an allowed one": {
    request: get("/v1/tools", { origin: "https://chat.example.evil" }),
    status: 403,
    code: "denied",
  },
  "a preflight": {
    request: {
      method: "OPTIONS",
      path: invoke,
      headers: { origin: "https://chat.example", "access-control-request-method": "POST" },
    },
    status: 405,
    code: "method_not_allowed",
  },
  "no content type": { request: post({}), body: "{}", status: 415, code: "unsupported_media_type" },
  "a form": {
    request: post({ "content-type": "application/x-www-form-urlencoded" }),
    body: "a=1",
    status: 415,
    code: "unsupported_media_type",
  },
  "text, as a page may send unasked": {
    request: post({ "content-type": "text/plain" }),
    body: "{}",
    status: 415,
    code: "unsupported_media_type",
  },
  "a type that begins like JSON": {
    request: post({ "content-type": "application/jsonp" }),
    body: "{}",
    status: 415,
    code: "unsupported_media_type",
  },
  "JSON with a parameter": {
    request: post({ "content-type": "application/json; charset=utf-8" }),
    body: "{}",
    status: 200,
  },
  "a compressed body": {
    request: post({ ...json, "content-encoding": "gzip" }),
    body: "{}",
    status: 415,
    code: "unsupported_media_type",
  },
  "broken JSON": { request: post(json), body: '{"a":', status: 400, code: "invalid_arguments" },
  "JSON that is no object": { request: post(json), body: "[1]", status: 400, code: "invalid_arguments" },
  "bytes that are no text": {
    request: post(json),
    body: Buffer.from([0x7b, 0xff, 0x7d]),
    status: 400,
    code: "invalid_arguments",
  },
  "JSON of 64 levels": { request: post(json), body: nested(64), status: 200 },
  "JSON of 66 levels": { request: post(json), body: nested(66), status: 400, code: "invalid_arguments" },
  "JSON of 100000 levels": { request: post(json), body: nested(100_000), status: 400, code: "invalid_arguments" },
  "a key that reaches for the prototype": {
    request: post(json),
    body: '{"__proto__":{"a":1}}',
    status: 400,
    code: "invalid_arguments",
  },
  "a key that reaches for it by another way": {
    request: post(json),
    body: '{"constructor":{"prototype":{"a":1}}}',
    status: 400,
    code: "invalid_arguments",
  },
  "the same key twice": { request: post(json), body: '{"a":1,"a":2}', status: 400, code: "invalid_arguments" },
  "a body of 1 MiB, for which the bus has no room beside its name": {
    request: post(json),
    body: filled(1024 * 1024),
    status: 413,
    code: "too_large",
  },
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
  "a path that climbs in disguise": {
    request: get("/v1/guides/..%2f..%2fetc%2fpasswd"),
    status: 404,
    code: "not_found",
  },
  "a path that climbs to health": { request: get("/healthz/../v1/guides/x"), status: 404, code: "not_found" },
  "a tool name with a slash in disguise": {
    request: post(json, "/v1/tools/a%2fb/invoke"),
    body: "{}",
    status: 404,
    code: "tool_not_found",
  },
  "a tool name with a zero byte": {
    request: post(json, "/v1/tools/a%00b/invoke"),
    body: "{}",
    status: 404,
    code: "tool_not_found",
  },
  "a tool name that is no UTF-8": {
    request: post(json, "/v1/tools/%ff/invoke"),
    body: "{}",
    status: 404,
    code: "tool_not_found",
  },
  "a tool name of 300 characters": {
    request: post(json, `/v1/tools/${"x".repeat(300)}/invoke`),
    body: "{}",
    status: 404,
    code: "tool_not_found",
  },
  "a tool name of Object": {
    request: post(json, "/v1/tools/constructor/invoke"),
    body: "{}",
    status: 404,
    code: "tool_not_found",
  },
  "a path that is not there": { request: get("/v2"), status: 404, code: "not_found" },
  "a backslash in the path": { request: get("/v1\\tools"), status: 400, code: "bad_request" },
  "a method that the path does not take": {
    request: { method: "DELETE", path: "/v1/tools" },
    status: 405,
    code: "method_not_allowed",
  },
  "an invocation by GET": { request: get(invoke), status: 405, code: "method_not_allowed" },
  "headers that are too large": {
    request: get("/v1/tools", { cookie: "x".repeat(20_000) }),
    status: 431,
    code: "too_large",
  },
};

const withToken: Record<string, Row> = {
  "the token": { request: get("/v1/tools", { authorization: `Bearer ${token}` }), status: 200 },
  "the token, the scheme in lower case": {
    request: get("/v1/tools", { authorization: `bearer ${token}` }),
    status: 200,
  },
  "no token": { request: get("/v1/tools"), status: 401, code: "unauthorized" },
  "a wrong token": {
    request: get("/v1/tools", { authorization: `Bearer ${token}x` }),
    status: 401,
    code: "unauthorized",
  },
  "a part of the token": {
    request: get("/v1/tools", { authorization: `Bearer ${token.slice(0, -1)}` }),
    status: 401,
    code: "unauthorized",
  },
  "an empty token": { request: get("/v1/tools", { authorization: "Bearer " }), status: 401, code: "unauthorized" },
  "the token under another scheme": {
    request: get("/v1/tools", { authorization: `Basic ${token}` }),
    status: 401,
    code: "unauthorized",
  },
  "the token and more": {
    request: get("/v1/tools", { authorization: `Bearer ${token}, Bearer x` }),
    status: 401,
    code: "unauthorized",
  },
  "the token in the query": { request: get(`/v1/tools?access_token=${token}`), status: 401, code: "unauthorized" },
  "a call without token": { request: post(json), body: "{}", status: 401, code: "unauthorized" },
  "the document without token": { request: get("/openapi.json"), status: 401, code: "unauthorized" },
  "an unknown path without token": { request: get("/v2"), status: 401, code: "unauthorized" },
  "health with something behind it": { request: get("/healthz/x"), status: 401, code: "unauthorized" },
  "health in capitals": { request: get("/HEALTHZ"), status: 401, code: "unauthorized" },
  "a path that passes by health": { request: get("/healthz/%2e%2e/v1/tools"), status: 401, code: "unauthorized" },
  "a token of 10 kB": {
    request: get("/v1/tools", { authorization: `Bearer ${"x".repeat(10_000)}` }),
    status: 401,
    code: "unauthorized",
  },
  "the token behind a tab": {
    request: get("/v1/tools", { authorization: `Bearer\t${token}` }),
    status: 401,
    code: "unauthorized",
  },
  "the token in a cookie": {
    request: get("/v1/tools", { cookie: `authorization=Bearer ${token}; token=${token}` }),
    status: 401,
    code: "unauthorized",
  },
  "health with a way out in disguise": { request: get("/healthz%2f..%2fv1/tools"), status: 401, code: "unauthorized" },
  "health with a parameter": { request: get("/healthz;/../v1/tools"), status: 401, code: "unauthorized" },
  "an operator's path by the token": {
    request: get("/operator/calls", { authorization: `Bearer ${token}` }),
    status: 404,
    code: "not_found",
  },
  "the token, and a rebound host": {
    request: get("/v1/tools", { authorization: `Bearer ${token}`, host: "evil.example" }),
    status: 403,
    code: "denied",
  },
  "the token, and an opaque origin": {
    request: get("/v1/tools", { authorization: `Bearer ${token}`, origin: "null" }),
    status: 403,
    code: "denied",
  },
};

/** What every answer has in common: it is typed, it gives no page anything, and it tells nothing of our inside. */
function expectSafe({ headers, json, text, status }: Answer): void {
  expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  expect(headers["content-type"]).toMatch(/^application\/json/);
  expect(text).not.toMatch(/node_modules|\.ts:\d|\bat \w+ \(|a-token-of/);
  if (status >= 400)
    expect(json).toMatchObject({
      code: expect.any(String),
      message: expect.stringMatching(/^Cannot |^There is no |^"writer" may not use /),
      isRetryable: expect.any(Boolean),
    });
}

test.each(Object.entries(withoutToken))("without a token set: %s", async (_, { request, body, status, code }) => {
  await using gateway = await startTestGateway({
    allowedHosts: ["gateway.internal"],
    allowedOrigins: ["https://chat.example", "HTTPS://Other.example:443"],
  });
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

const tokens = {
  researcher: "token-of-the-researcher",
  writer: "token-of-the-writer",
  gone: "token-that-has-expired",
  operator: "token-of-the-operator",
  past: "token-of-an-old-operator",
};
const hashOf = (name: keyof typeof tokens): string =>
  `"sha256:${createHash("sha256").update(tokens[name]).digest("hex")}"`;
const by = (name: keyof typeof tokens | "gateway", headers: Record<string, string> = {}) => ({
  authorization: `Bearer ${name === "gateway" ? token : tokens[name]}`,
  ...headers,
});
/** Two tenants, each with one tool, and two operators, of whom one is so no longer. */
const POLICY = `
callers:
  researcher: { allow: [echo, soon], tokens: [{ hash: ${hashOf("researcher")} }, { hash: ${hashOf("gone")}, expires: "2020-01-01T00:00:00Z" }] }
  writer: { allow: [sad], tokens: [{ hash: ${hashOf("writer")} }] }
operators:
  - { name: ops, tokens: [{ hash: ${hashOf("operator")} }, { hash: ${hashOf("past")}, expires: "2020-01-01T00:00:00Z" }] }
`;
const policyOf = async () => holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
const operatorPaths = [
  "/operator/calls",
  "/operator/calls/0123456789abcdef0123456789abcdef",
  "/operator/policy",
  "/operator/dlq/list",
  "/operator/none",
];

const ofTenants: Record<string, Row> = {
  "a caller's token": { request: get("/v1/tools", by("researcher")), status: 200 },
  "no token": { request: get("/v1/tools"), status: 401, code: "unauthorized" },
  "the single token, which counts no longer": {
    request: get("/v1/tools", by("gateway")),
    status: 401,
    code: "unauthorized",
  },
  "an expired token": { request: get("/v1/tools", by("gone")), status: 401, code: "unauthorized" },
  "the hash of a token": {
    request: get("/v1/tools", { authorization: `Bearer ${hashOf("researcher").slice(1, -1)}` }),
    status: 401,
    code: "unauthorized",
  },
  "an operator's token at the callers' door": {
    request: get("/v1/tools", by("operator")),
    status: 401,
    code: "unauthorized",
  },
  "a tool of one's own": { request: post(by("researcher", json)), body: "{}", status: 200 },
  "a tool that another tenant may use": { request: post(by("writer", json)), body: "{}", status: 403, code: "denied" },
  "an operator's token": { request: get("/operator/policy", by("operator")), status: 200 },
  "an operator's token, and a rebound host": {
    request: get("/operator/policy", by("operator", { host: "evil.example" })),
    status: 403,
    code: "denied",
  },
  "an operator's token, from a web page": {
    request: get("/operator/policy", by("operator", { origin: "http://localhost:8480" })),
    status: 403,
    code: "denied",
  },
  "an operator's token, for what is not there": { request: get("/operator/none", by("operator")), status: 404 },
};
for (const path of operatorPaths) {
  for (const method of ["GET", "POST"]) {
    ofTenants[`${method} ${path} without a token`] = {
      request: { method, path, headers: {} },
      status: 401,
      code: "unauthorized",
    };
    ofTenants[`${method} ${path} by a caller`] = {
      request: { method, path, headers: by("researcher") },
      status: 401,
      code: "unauthorized",
    };
    ofTenants[`${method} ${path} by the gateway's token`] = {
      request: { method, path, headers: by("gateway") },
      status: 401,
      code: "unauthorized",
    };
    ofTenants[`${method} ${path} by an operator of the past`] = {
      request: { method, path, headers: by("past") },
      status: 401,
      code: "unauthorized",
    };
  }
}

test.each(Object.entries(ofTenants))("with tenants and operators: %s", async (_, { request, body, status, code }) => {
  await using gateway = await startTestGateway({ gatewayToken: token }, await policyOf());
  const answer = await gateway.send(request, body);

  expect([answer.status, answer.json?.["code"]]).toEqual([status, code]);
  expect(answer.text).not.toMatch(/token-of-|token-that|sha256:/);
  if (code !== undefined) expectSafe(answer);
});

test("an operator reads the calls of all tenants, and what the policy says; a tenant sees its own calls only, and the bus has no such door", async () => {
  await using gateway = await startTestGateway({}, await policyOf());
  const key = { "idempotency-key": "0123456789abcdef0123456789abcdef" };
  await gateway.invoke("echo", { a: 1 }, by("researcher", key));
  const path = `/v1/calls/${key["idempotency-key"]}`;
  const calls = await gateway.send(get("/operator/calls?limit=10", by("operator")));
  const said = await gateway.send(get("/operator/policy?caller=writer&tool=echo", by("operator")));

  expect(calls.json).toMatchObject({ calls: [{ toolName: "echo", state: "answered" }] });
  expect(said.json).toMatchObject({
    revision: expect.stringMatching(/^[0-9a-f]{12}$/),
    explanation: expect.any(Array),
  });
  expect((await gateway.send(get(path, by("researcher")))).status).toBe(200);
  expect((await gateway.send(get(path, by("writer")))).status).toBe(404);
  for (const topic of ["operator.calls", "tool.invoke.operator", "operator.policy"])
    await expect(
      gateway.bus.publish(createEnvelope({ topic, type: "x", source: "tool", body: Buffer.from("{}") }), {
        mandatory: true,
      }),
    ).rejects.toThrow(UnroutableError);
});

test.each(["0.0.0.0", "::", "192.0.2.1", "gateway.example", "127.0.0.1.evil.example"])(
  "listening on %s needs a token",
  async (host) => {
    await expect(startTestGateway({ host })).rejects.toThrow(ConfigError);
    await expect(startTestGateway({ host })).rejects.toThrow(
      "gatewayToken: is required, since other machines can reach the host",
    );
  },
);

test.each(["/v1/tools", "/openapi.json"])(
  "a page of the gateway's own origin is answered at %s, under each of its names",
  async (path) => {
    await using gateway = await startTestGateway({ allowedHosts: ["gateway.internal"] });
    for (const host of [`127.0.0.1:${gateway.port}`, `localhost:${gateway.port}`, "gateway.internal"])
      expect((await gateway.send(get(path, { host, origin: `http://${host}` }))).status).toBe(200);
  },
);

const posted = `POST ${invoke} HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n`;
const statusesIn = (answer: string): number[] =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

/**
 * Sends a piece each few milliseconds until the server ends the connection.
 * @returns what it said, and how many bytes it was sent
 */
async function trickle(
  port: number,
  start: string,
  piece: string,
): Promise<{ readonly answer: string; readonly bytes: number }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const socket = connect(port, "127.0.0.1", () => {
    socket.write(start);
    timer = setInterval(() => socket.writable && socket.write(piece), 5);
  });
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
  socket.on("error", () => {}); // the server may cut it off in the middle
  socket.on("close", () => resolve());
  await promise;
  clearInterval(timer);
  return { answer, bytes: socket.bytesWritten };
}

test("headers and a body that trickle in byte by byte are 408 in the end, however steadily they come", async () => {
  await using gateway = await startTestGateway({ requestTimeoutMs: 300 });
  const [headers, body] = await Promise.all([
    trickle(gateway.port, "GET /v1/tools HTTP/1.1\r\nHost: localhost\r\nx: ", "x"),
    trickle(gateway.port, `${posted}content-length: 100000\r\n\r\n`, " "),
  ]);

  expect(statusesIn(headers.answer)).toEqual([408]);
  expect(statusesIn(body.answer)).toEqual([408]);
});

test("a body of endless chunks is 413 soon after its first mebibyte, and the connection ends", async () => {
  await using gateway = await startTestGateway();
  const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
  const { answer, bytes } = await trickle(gateway.port, `${posted}transfer-encoding: chunked\r\n\r\n`, chunk);

  expect(statusesIn(answer)).toEqual([413]);
  expect(bytes).toBeLessThan(16 * 1024 * 1024);
});

test("requests in one packet are answered one by one, in order, and each by its own right", async () => {
  await using gateway = await startTestGateway({ gatewayToken: token });
  const ask = (path: string, headers = ""): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
  const auth = `authorization: Bearer ${token}\r\n`;
  const answer = await gateway.raw(
    ask("/v1/tools", auth) + ask("/v1/tools") + ask("/healthz") + ask("/v1/guides", `${auth}connection: close\r\n`),
  );

  expect(statusesIn(answer)).toEqual([200, 401, 200, 200]);
});

test("a tunnel is not opened, and another protocol not changed to", async () => {
  await using gateway = await startTestGateway();
  const upgraded = await gateway.raw(
    "GET /healthz HTTP/1.1\r\nHost: localhost\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n",
  );

  expect(await gateway.raw("CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n")).toBe("");
  expect(statusesIn(upgraded)).toEqual([200]);
});

test("a body that comes too slowly is 408, and the connection ends", async () => {
  await using gateway = await startTestGateway({ requestTimeoutMs: 300 });
  const answer = await gateway.raw(
    `POST ${invoke} HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":`,
  );

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
  [
    "a length and chunks",
    `POST ${invoke} HTTP/1.1\r\nHost: localhost\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ["a header name with a space", "GET /v1/tools HTTP/1.1\r\nHost: localhost\r\nx y: 1\r\n\r\n"],
  ["a Host without a name", "GET /v1/tools HTTP/1.1\r\nHost:\r\nconnection: close\r\n\r\n"],
  [
    "a second Authorization",
    "GET /v1/tools HTTP/1.1\r\nHost: localhost\r\nauthorization: Bearer x\r\nauthorization: Bearer y\r\nconnection: close\r\n\r\n",
  ],
  [
    "a second Origin",
    "GET /v1/tools HTTP/1.1\r\nHost: localhost\r\norigin: null\r\norigin: https://chat.example\r\nconnection: close\r\n\r\n",
  ],
  ["an encoding that is not known", `${posted}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ["an encoding behind chunks", `${posted}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  [
    "an encoding before chunks",
    `${posted}transfer-encoding: identity, chunked\r\nconnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  ],
  ["two encodings", `${posted}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n`],
  ["a space before the colon", `${posted}transfer-encoding : chunked\r\n\r\n0\r\n\r\n`],
  ["a length with a sign", `${posted}content-length: +2\r\n\r\n{}`],
  ["a length in hex", `${posted}content-length: 0x2\r\n\r\n{}`],
  ["a list of lengths", `${posted}content-length: 2, 2\r\n\r\n{}`],
  ["a length below zero", `${posted}content-length: -2\r\n\r\n{}`],
  ["a length beyond all numbers", `${posted}content-length: 99999999999999999999999\r\n\r\n{}`],
  ["lines that end too early", "GET /v1/tools HTTP/1.1\nHost: localhost\nconnection: close\n\n"],
  ["a return inside a header", "GET /v1/tools HTTP/1.1\r\nHost: localhost\rx: y\r\nconnection: close\r\n\r\n"],
  ["a zero byte in a header", "GET /v1/tools HTTP/1.1\r\nHost: localhost\r\nx: a\0b\r\nconnection: close\r\n\r\n"],
  ["a header over two lines", "GET /v1/tools HTTP/1.1\r\nHost: localhost\r\nx: a\r\n b\r\nconnection: close\r\n\r\n"],
  ["a chunk larger than all numbers", `${posted}transfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFFF\r\n{}`],
  ["a chunk below zero", `${posted}transfer-encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n`],
  ["a chunk longer than it says", `${posted}transfer-encoding: chunked\r\n\r\n2\r\n{}XX\r\n0\r\n\r\n`],
  ["chunks with lines that end too early", `${posted}transfer-encoding: chunked\r\n\r\n2\n{}\n0\n\n`],
  [
    "a chunk with an endless note",
    `${posted}transfer-encoding: chunked\r\n\r\n2;${"x".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  ],
  ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["HTTP/0.9", "GET /v1/tools\r\n\r\n"],
  ["HTTP of the future", "GET /v1/tools HTTP/1.2\r\nHost: localhost\r\n\r\n"],
  [
    "a request behind the body that was announced",
    `${posted}content-length: 2\r\nconnection: close\r\n\r\n{}GET /v1/tools HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  ],
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
