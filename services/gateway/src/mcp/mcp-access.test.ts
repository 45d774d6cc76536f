import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { createPolicy, holdPolicy, openPolicy, type PolicyHolder, readPolicy } from "@rockbot/policy";
import { createToolCaller } from "@rockbot/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { RunningKeys } from "../calls/running-keys.ts";
import { createGatewayApp } from "../gateway-app.ts";
import { serveHttp } from "../http/http-server.ts";
import { startTestGateway } from "../test-gateway.ts";
import { GatewayEndpoint } from "./gateway-endpoint.ts";
import { clients } from "./test-clients.ts";
import { initialize, mcpHeaders, message, openSession, postMcp } from "./test-messages.ts";

const PATIENCE = { timeout: 20_000 };

const hashOf = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;

/** Alice may use all, Bob not `echo`; the token of a third has ended, and an operator's is no caller's. */
async function testPolicy(): Promise<PolicyHolder> {
  const yaml = `
everyone: { allow: ["*"] }
callers:
  alice: { tokens: [{ hash: "${hashOf("alice-token")}" }] }
  bob: { tokens: [{ hash: "${hashOf("bob-token")}" }], deny: ["echo"] }
  late: { tokens: [{ hash: "${hashOf("late-token")}", expires: 2020-01-01T00:00:00Z }] }
operators: [{ name: ops, tokens: [{ hash: "${hashOf("ops-token")}" }] }]
`;
  return holdPolicy(createPolicy(await readPolicy(yaml, "of the test")));
}
const alice = { token: "alice-token" };
const bob = { token: "bob-token" };

test.each([
  ["its token", {}, initialize, 200],
  ["no token", { authorization: undefined }, initialize, 401],
  ["a token of nobody", { authorization: "Bearer mallory-token" }, initialize, 401],
  ["a token that has ended", { authorization: "Bearer late-token" }, initialize, 401],
  ["an operator's token", { authorization: "Bearer ops-token" }, initialize, 401],
  ["the token in another scheme", { authorization: "Basic alice-token" }, initialize, 401],
  ["an allowed origin", { origin: "https://chat.example" }, initialize, 200],
  ["a strange origin", { origin: "https://evil.example" }, initialize, 403],
  ["an opaque origin", { origin: "null" }, initialize, 403],
  ["a host that was rebound to us", { host: "evil.example" }, initialize, 403],
  ["text, as a page may send unasked", { "content-type": "text/plain" }, initialize, 415],
  ["a compressed body", { "content-encoding": "gzip" }, initialize, 415],
  ["no wish for a stream", { accept: "application/json" }, initialize, 406],
  ["a session that is not there", { "mcp-session-id": "b7f9" }, message(2, "tools/list"), 404],
  ["a protocol version of its own", { "mcp-protocol-version": "1999-01-01" }, message(2, "tools/list"), 400],
  ["a batch", {}, [initialize, initialize], 400],
  ["no message", {}, 7, 400],
  ["nothing", {}, "", 400],
  ["broken JSON", {}, '{"jsonrpc":', 400],
  ["the same key twice", {}, '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400],
  ["a key that reaches for the prototype", {}, '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"a":1}}', 400],
  ["JSON of 100000 levels", {}, `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, 400],
  ["a body that is too large", {}, `{"a":"${"x".repeat(1024 * 1024)}"}`, 413],
  [
    "a chunked body that turns out too large",
    { "transfer-encoding": "chunked" },
    `{"a":"${"x".repeat(2 * 1024 * 1024)}"}`,
    413,
  ],
] as const)("T17: a request with %s", async (_, headers, body, status) => {
  await using gateway = await startTestGateway({ allowedOrigins: ["https://chat.example"] }, await testPolicy());
  const answer = await postMcp(gateway, body, { ...mcpHeaders(alice), ...headers });

  expect(answer.status).toBe(status);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  expect(answer.text).not.toMatch(/node_modules|\.ts:\d|\bat \w+ \(|alice-token/);
  if (status !== 200) expect(gateway.gateway.mcpLoad.sessions).toBe(0);
});

test.each([
  ["GET", {}, 400],
  ["GET", { accept: "application/json" }, 406],
  ["GET", { "mcp-session-id": "b7f9" }, 404],
  ["GET", { authorization: "Bearer mallory-token" }, 401],
  ["DELETE", { "mcp-session-id": "b7f9" }, 404],
  ["DELETE", { authorization: undefined }, 401],
  ["PUT", {}, 405],
  ["OPTIONS", {}, 405],
] as const)("T17: %s with %o is answered %d", async (method, headers, status) => {
  await using gateway = await startTestGateway({}, await testPolicy());
  const answer = await gateway.send({
    path: "/mcp",
    method,
    headers: withoutUndefined({ ...mcpHeaders(alice), ...headers }),
  });

  expect(answer.status).toBe(status);
});

const withoutUndefined = (headers: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<string, string>;

describe.each(Object.entries(clients))("%s", (_, connect) => {
  test("sees and calls what the policy lets its caller use, as that caller", async () => {
    await using gateway = await startTestGateway({}, await testPolicy());
    await using ofAlice = await connect({ url: gateway.url, ...alice });
    await using ofBob = await connect({ url: gateway.url, ...bob });
    const names = async (client: typeof ofAlice) => (await client.listTools()).map(({ name }) => name);

    expect(await names(ofAlice)).toContain("echo");
    expect(await names(ofBob)).not.toContain("echo");
    expect((await ofAlice.call({ name: "who" })).content).toEqual([{ type: "text", text: "alice" }]);
    expect((await ofBob.call({ name: "who" })).content).toEqual([{ type: "text", text: "bob" }]);
    expect(await ofBob.call({ name: "echo" })).toMatchObject({
      isError: true,
      _meta: { "rockbot/error": { code: "denied" } },
    });
    await expect(connect({ url: gateway.url, token: "mallory-token" })).rejects.toThrow();
  });

  test("T05: gets no other caller's answer by the same key", async () => {
    await using gateway = await startTestGateway({}, await testPolicy());
    await using ofAlice = await connect({ url: gateway.url, ...alice });
    await using ofBob = await connect({ url: gateway.url, ...bob });
    const call = { name: "who", _meta: { "rockbot/idempotencyKey": "0123456789abcdef0123456789abcdef" } };
    const [mine, theirs] = [await ofAlice.call(call), await ofBob.call(call)];

    expect([mine.content, theirs.content]).toEqual([
      [{ type: "text", text: "alice" }],
      [{ type: "text", text: "bob" }],
    ]);
    expect(mine._meta?.["rockbot/toolCallId"]).not.toBe(theirs._meta?.["rockbot/toolCallId"]);
    const find = await gateway.send({
      path: `/v1/calls/${mine._meta?.["rockbot/toolCallId"]}`,
      headers: { authorization: "Bearer bob-token" },
    });
    expect(find.status).toBe(404);
  });

  test("is told that a call with the same key still runs", async () => {
    await using gateway = await startTestGateway();
    await using client = await connect(gateway);
    const call = { name: "wait", arguments: { id: "k" }, _meta: { "rockbot/idempotencyKey": "k" } };
    client.call(call).catch(() => {});
    await expect.poll(() => gateway.waiting, PATIENCE).toEqual(["k"]);

    expect(await client.call(call)).toMatchObject({
      isError: true,
      _meta: { "rockbot/error": { code: "conflict", retryAfterMs: 1000 } },
    });
    expect((await gateway.invoke("wait", { id: "k" }, { "idempotency-key": "k" })).status).toBe(409);
  });
});

test("a session is its caller's only: another can neither use, hear, cancel nor end it", async () => {
  await using gateway = await startTestGateway({}, await testPolicy());
  const session = await openSession(gateway, alice);
  const call = postMcp(
    gateway,
    message(5, "tools/call", { name: "wait", arguments: { id: "s" } }),
    mcpHeaders({ ...alice, session }),
  );
  await expect.poll(() => gateway.waiting, PATIENCE).toEqual(["s"]);

  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } };
  const strange = mcpHeaders({ ...bob, session });
  expect((await postMcp(gateway, message(6, "tools/list"), strange)).status).toBe(404);
  expect((await postMcp(gateway, cancel, strange)).status).toBe(404);
  expect((await gateway.send({ path: "/mcp", method: "GET", headers: strange })).status).toBe(404);
  expect((await gateway.send({ path: "/mcp", method: "DELETE", headers: strange })).status).toBe(404);
  expect(gateway.aborted).toEqual([]);
  expect((await postMcp(gateway, message(5, "ping"), mcpHeaders({ ...alice, session }))).status).toBe(400); // the id is in use

  expect((await postMcp(gateway, cancel, mcpHeaders({ ...alice, session }))).status).toBe(202);
  await expect.poll(() => gateway.aborted, PATIENCE).toEqual(["s"]);
  expect((await call).text).not.toContain('"id":5'); // cancelled calls are not answered
});

test("a stream of changes ends when its token is nobody's any more", { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "rockbot-gateway-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "policy.yaml");
  const write = (token: string) =>
    writeFileSync(file, `callers: { alice: { allow: ["*"], tokens: [{ hash: "${hashOf(token)}" }] } }`);
  write("alice-token");
  await using policy = await openPolicy(file);
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "gateway", policy });
  const calls = {
    timeoutMs: 1_000,
    maxTimeoutMs: 1_000,
    keys: new RunningKeys(),
    refusals: undefined,
    signal: new AbortController().signal,
    log: silentLogger,
  };
  await using endpoint = new GatewayEndpoint(caller, { ...calls, policy });
  const app = createGatewayApp(caller, { ...calls, policy, mcp: () => endpoint.get(), keepAliveMs: 50 });
  await using server = await serveHttp(app, { host: "127.0.0.1", port: 0 });

  const url = `http://127.0.0.1:${server.port}/mcp`;
  const opened = await fetch(url, { method: "POST", headers: mcpHeaders(alice), body: JSON.stringify(initialize) });
  await opened.text();
  const stream = await fetch(url, {
    headers: mcpHeaders({ ...alice, session: String(opened.headers.get("mcp-session-id")) }),
  });
  expect([stream.status, endpoint.load]).toEqual([200, { sessions: 1, listeners: 1 }]);
  write("a-newer-token");

  await expect(stream.text()).rejects.toThrow();
  await expect.poll(() => endpoint.load.listeners, PATIENCE).toBe(0);
});
