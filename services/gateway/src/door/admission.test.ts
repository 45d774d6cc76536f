import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { Admission, WaitingRoom } from "@rockbot/edge/inbound";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { serveHttp } from "../http/http-server.ts";
import { startTestGateway } from "../test-gateway.ts";
import { admission } from "./admission.ts";
import type { GatewayEnv } from "./guard.ts";

const WAIT = { timeout: 10_000, interval: 20 };
const hashOf = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;
const by = (name: string) => ({ authorization: `Bearer ${name}-token` });
const policyOfTwo = async () => {
  const one = (name: string) => `${name}: { allow: ["*"], tokens: [{ hash: "${hashOf(`${name}-token`)}" }] }`;
  return holdPolicy(createPolicy(await readPolicy(`callers: { ${one("alice")}, ${one("bob")} }`, "of the test")));
};

/** Connections that send this and read nothing. Resolves once all of it is on its way. */
async function sendRaw(
  port: number,
  count: number,
  text: string,
): Promise<Disposable & { readonly closed: number; readonly sockets: readonly Socket[] }> {
  let closed = 0;
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const { promise: sent, resolve, reject } = Promise.withResolvers<void>();
    const socket = connect(port, "127.0.0.1", () => socket.write(text, () => resolve()));
    sockets.push(socket);
    socket.on("error", reject).once("close", () => closed++);
    await sent;
  }
  return {
    get closed() {
      return closed;
    },
    sockets,
    [Symbol.dispose]: () => sockets.forEach((socket) => void socket.destroy()),
  };
}

const half = (path: string, headers: Record<string, string>) =>
  [
    `POST ${path} HTTP/1.1`,
    "host: localhost",
    "content-type: application/json",
    "content-length: 100",
    ...Object.entries(headers).map((header) => header.join(": ")),
    "",
    "{",
  ].join("\r\n");

const waitingCall = (headers: Record<string, string>) =>
  [
    "POST /v1/tools/wait/invoke HTTP/1.1",
    "host: localhost",
    ...Object.entries(headers).map((header) => header.join(": ")),
    "",
    "",
  ].join("\r\n");

const mcp = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" };
test.each([
  ["calls", "/v1/tools/echo/invoke", {}],
  ["messages of MCP", "/mcp", mcp],
  ["streams of changes", "/mcp", { ...mcp, "mcp-method": "subscriptions/listen" }],
  ["paths that are none", "/nothing", {}],
])("300 halves of %s keep out neither their own caller nor another", { timeout: 60_000 }, async (_, path, headers) => {
  await using gateway = await startTestGateway({}, await policyOfTwo());
  using halves = await sendRaw(gateway.port, 300, half(path, { ...headers, ...by("alice") }));
  let answers = "";
  for (const socket of halves.sockets) socket.on("data", (chunk) => (answers += chunk.toString()));

  for (const name of ["bob", "alice", "bob"])
    expect((await gateway.invoke("echo", { a: 1 }, by(name))).status).toBe(200);
  // Those that had to make room are told so.
  await expect.poll(() => answers.match(/HTTP\/1.1 408/g)?.length ?? 0, WAIT).toBeGreaterThanOrEqual(300 - 256);
  expect(answers).toMatch(/^connection: close/im);
  expect(answers).toContain("its body did not arrive while others waited for the same place");
});

test("as many halves as there is room for stay, and one more takes the place of the oldest of the caller with the most", async () => {
  await using gateway = await startTestGateway({ maxConcurrent: 4 }, await policyOfTwo());
  const halfOf = (name: string) => half("/v1/tools/echo/invoke", by(name));
  using bobs = await sendRaw(gateway.port, 1, halfOf("bob"));
  using alices = await sendRaw(gateway.port, 3, halfOf("alice"));
  expect((await gateway.send({ path: "/v1/tools", headers: by("bob") })).status).toBe(200); // has no body to wait for
  expect([bobs.closed, alices.closed]).toEqual([0, 0]);

  const [first] = alices.sockets;
  const told = new Promise<string>((resolve) => first?.once("data", (chunk) => resolve(chunk.toString())));
  expect((await gateway.invoke("echo", {}, by("bob"))).status).toBe(200);
  expect(await told).toContain("others waited for the same place");
  const rest = (socket: Socket | undefined) => {
    socket?.write(`${" ".repeat(98)}}`);
    return new Promise<string>((resolve) => socket?.once("data", (chunk) => resolve(chunk.toString())));
  };
  expect(await rest(alices.sockets[1])).toContain("HTTP/1.1 200");
  expect(await rest(bobs.sockets[0])).toContain("HTTP/1.1 200");
});

test("half a body is answered with 408 once its time is over", async () => {
  await using gateway = await startTestGateway({ requestTimeoutMs: 300 });

  expect(await gateway.raw(half("/v1/tools/echo/invoke", {}))).toMatch(/^HTTP\/1.1 408/);
});

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 2],
  [8, 4],
])("of %d places one caller has %d at most, and another finds one", async (maxConcurrent, most) => {
  await using gateway = await startTestGateway({ maxConcurrent }, await policyOfTwo());
  using calls = new DisposableStack();
  for (let i = 1; i <= most; i++) {
    calls.use(await sendRaw(gateway.port, 1, waitingCall(by("alice"))));
    await expect.poll(() => gateway.waiting.length, WAIT).toBe(i);
  }

  const refused = await gateway.invoke("echo", {}, by("alice"));
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
  expect((await gateway.invoke("echo", {}, by("bob"))).status).toBe(most < maxConcurrent ? 200 : 503);
});

test("where all callers are one, it has all places", async () => {
  await using gateway = await startTestGateway({ maxConcurrent: 4 });
  using calls = new DisposableStack();
  for (let i = 1; i <= 4; i++) {
    calls.use(await sendRaw(gateway.port, 1, waitingCall({})));
    await expect.poll(() => gateway.waiting.length, WAIT).toBe(i);
  }

  expect((await gateway.invoke("echo", {})).status).toBe(503);
});

test("clients that do not read their answers take no place of calls that run", { timeout: 60_000 }, async () => {
  await using gateway = await startTestGateway({ maxConcurrent: 2 }, await policyOfTwo());
  const request = [
    "POST /v1/tools/large/invoke HTTP/1.1",
    "host: localhost",
    `authorization: ${by("alice").authorization}`,
    "",
    "",
  ].join("\r\n");
  for (let i = 0; i < 6; i++) {
    using raw = await sendRaw(gateway.port, 1, request);
    const [socket] = raw.sockets;
    await new Promise((resolve) => socket?.once("readable", () => resolve(undefined))); // the answer is there
    expect((await gateway.invoke("echo", {}, by("alice"))).status).toBe(200);
    expect((await gateway.invoke("echo", {}, by("bob"))).status).toBe(200);
  }
});

test("clients that do not read their event streams take no place of calls that run", { timeout: 60_000 }, async () => {
  await using gateway = await startTestGateway({ maxConcurrent: 2 }, await policyOfTwo());
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "large", arguments: {} },
  });
  const head = (path: string, length: number) => [
    ...[`POST ${path} HTTP/1.1`, "host: localhost", "content-type: application/json", `content-length: ${length}`],
    ...Object.entries({ ...mcp, ...by("alice") }).map((header) => header.join(": ")),
    ...["", ""],
  ];
  for (const text of [head("/mcp", body.length).join("\r\n") + body, head("/v1/tools/large/invoke", 0).join("\r\n")]) {
    for (let i = 0; i < 3; i++) {
      using raw = await sendRaw(gateway.port, 1, text);
      await new Promise((resolve) => raw.sockets[0]?.once("readable", () => resolve(undefined)));
      await expect.poll(async () => (await gateway.invoke("echo", {}, by("alice"))).status, WAIT).toBe(200);
      expect((await gateway.invoke("echo", {}, by("bob"))).status).toBe(200);
    }
  }
});

test("a client that does not read its answer is cut off", async () => {
  const app = new Hono<GatewayEnv>();
  const places = new Admission({ maxRunning: 1, waiting: new WaitingRoom(1), answerMs: 1000 });
  app.use(admission(() => places));
  app.get("/large", (c) => c.body(new Uint8Array(64 * 1024 * 1024)));
  app.get("/small", (c) => c.text("ok"));
  await using server = await serveHttp(app, { host: "127.0.0.1", port: 0 });

  const client = connect(server.port, "127.0.0.1");
  client.pause();
  client.write("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await new Promise((resolve) => client.once("readable", () => resolve(undefined)));
  expect((await fetch(`http://127.0.0.1:${server.port}/small`)).status).toBe(200);
  const ended = new Promise((resolve) => client.on("error", resolve).once("close", resolve));
  setTimeout(() => client.resume(), 1500); // what it had been sent before is less than the answer
  await ended;
  expect(client.bytesRead).toBeLessThan(64 * 1024 * 1024);
});
