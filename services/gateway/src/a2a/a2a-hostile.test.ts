import { connect } from "node:net";
import { freePort } from "@rockbot/testing";
import { expect, test } from "vitest";
import { serveTestAgent, twoWords } from "../chat/test-agent.ts";
import { startTestGateway } from "../test-gateway.ts";

async function startSystem(script = twoWords) {
  await using started = new AsyncDisposableStack();
  const port = await freePort();
  const gateway = started.use(await startTestGateway({ port, a2aUrl: `http://127.0.0.1:${port}` }));
  const agent = started.use(await serveTestAgent(gateway.bus, script));
  const parts = started.move();
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    gateway.send(
      {
        path: `/a2a/agent/${path}`,
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
      },
      body,
    );
  return { ...gateway, agent, post, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const part = { text: "x" };
const message = { messageId: "m", role: "ROLE_USER", parts: [part] };
const rpc = (method: string, params: unknown, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

test.each<readonly [string, string]>([
  ["no JSON", "{{{"],
  ["a list", "[]"],
  ["a batch", `[${rpc("GetTask", { id: "1" })}]`],
  ["that nests too deep", `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`],
  ["with a key twice", '{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"GetTask"}'],
  ["with a key to a prototype", '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"__proto__":{"id":"x"}}}'],
  ["of another type", "<a/>"],
  ["of another version", rpc("GetTask", { id: "1" }).replace("2.0", "1.0").replace('"id":1', '"id":null')],
  ["without a method", '{"jsonrpc":"2.0","id":{}}'],
])("a body %s is refused before the SDK sees it", async (what, body) => {
  await using system = await startSystem();

  const send = (path: string) =>
    system.post(path, body, what === "of another type" ? { "content-type": "text/xml" } : {});
  expect((await send("http/message:send")).status).toBeOneOf([400, 415]);
  const { status, json } = await send("rpc");
  const code = what === "no JSON" ? -32_700 : -32_600;
  expect([status, json]).toMatchObject(
    what === "of another type" ? [415, {}] : [200, { jsonrpc: "2.0", id: null, error: { code } }],
  );
});

test.each<readonly [string, string]>([
  ["an unknown method", rpc("Dance", {})],
  ["no parameters", rpc("SendMessage", null)],
  ["no message", rpc("SendMessage", {})],
  ["a message without parts", rpc("SendMessage", { message: { ...message, parts: [] } })],
  ["parts that are none", rpc("SendMessage", { message: { ...message, parts: "x" } })],
  ["no messageId", rpc("SendMessage", { message: { ...message, messageId: "" } })],
  ["a contextId of 5 000 characters", rpc("SendMessage", { message: { ...message, contextId: "c".repeat(5_000) } })],
  ["a contextId with a line feed", rpc("SendMessage", { message: { ...message, contextId: "a\nb" } })],
  [
    "a message that is too long",
    rpc("SendMessage", { message: { ...message, parts: [{ text: "x".repeat(300_000) }] } }),
  ],
  ["the id of a path", rpc("GetTask", { id: "../../etc/passwd" })],
  ["an id of a hundred thousand characters", rpc("CancelTask", { id: "x".repeat(100_000) })],
  ["a history of less than nothing", rpc("GetTask", { id: "1", historyLength: -1 })],
  [
    "a history of less than nothing of an answer",
    rpc("SendMessage", { message, configuration: { historyLength: -1 } }),
  ],
  ["a page of nothing", rpc("ListTasks", { pageSize: 0 })],
  ["a page of a million", rpc("ListTasks", { pageSize: 1_000_000 })],
  ["a page that is not there", rpc("ListTasks", { pageToken: "zzz" })],
  ["a time that is none", rpc("ListTasks", { statusTimestampAfter: "yesterday" })],
  ["a state that A2A does not have", rpc("ListTasks", { status: "input-required" })],
  ["the extended card", rpc("GetExtendedAgentCard", {})],
  ["a push notification", rpc("CreateTaskPushNotificationConfig", { taskId: "1", url: "http://169.254.169.254/" })],
])("a request with %s is refused in words that are no fault of the gateway's, and starts nothing", async (_, body) => {
  await using system = await startSystem();

  const { status, json } = await system.post("rpc", body);
  expect(status).toBe(200);
  const { code, message: words } = (json?.["error"] ?? {}) as { code: number; message: string };
  expect([code, words]).not.toEqual([-32_603, expect.anything()]);
  expect(code).toBeLessThan(-32_000);
  expect(words).not.toMatch(/Cannot read propert|undefined|at \w+ \(/);
  expect(system.agent.turns).toEqual([]);
  expect((await system.post("rpc", rpc("SendMessage", { message }))).status).toBe(200); // it goes on
});

test.each<readonly [string, string, string]>([
  ["part that is none", "rpc", rpc("SendMessage", { message: { ...message, parts: [null] } })],
  ["part that is none", "http/message:send", JSON.stringify({ message: { ...message, parts: [part, 7] } })],
  [
    "file in wrong base64",
    "rpc",
    rpc("SendMessage", { message: { ...message, parts: [{ raw: "aGVsbG8*###", mediaType: "text/plain" }] } }),
  ],
  [
    "file whose base64 is cut off",
    "rpc",
    rpc("SendMessage", { message: { ...message, parts: [{ raw: "aGVsb", mediaType: "text/plain" }] } }),
  ],
  [
    "file of 0.3 in wrong base64",
    "rpc",
    rpc("message/send", {
      message: { ...message, parts: [{ kind: "file", file: { bytes: "%", mimeType: "text/csv" } }] },
    }),
  ],
  [
    "file of 0.3 in wrong base64",
    "http/v1/message:send",
    JSON.stringify({ message: { ...message, content: [{ file: { fileWithBytes: "YQ==YQ" } }] } }),
  ],
])("a %s is the client's fault, in words, by %s", async (what, path, body) => {
  await using system = await startSystem();

  const { status, json } = await system.post(path, body, {
    "a2a-version": /0\.3|v1/.test(`${what} ${path}`) ? "0.3" : "1.0",
  });
  expect([status, json]).toMatchObject([
    400,
    { code: "invalid_arguments", message: expect.stringMatching(/message\.parts\.\d: expected/) },
  ]);
  expect(system.agent.turns).toEqual([]);
});

test("a page of a stranger cannot ask, nor read what it asked", async () => {
  await using system = await startSystem();

  expect((await system.post("rpc", rpc("SendMessage", { message }), { origin: "https://evil.example" })).status).toBe(
    403,
  );
  expect((await system.post("rpc", rpc("SendMessage", { message }), { host: "evil.example" })).status).toBe(403);
  const { headers } = await system.post("rpc", rpc("SendMessage", { message }));
  expect(headers["access-control-allow-origin"]).toBeUndefined();
  expect(headers["x-powered-by"]).toBeUndefined();
});

const quota = { code: "overloaded", reason: "caller_share" };

test("of one caller so many tasks run at once, and one more is refused for now", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using system = await startSystem(async () => {
    await promise;
    return { text: "" };
  });
  const begin = (messageId: string) =>
    system.post(
      "rpc",
      rpc("SendMessage", { message: { ...message, messageId }, configuration: { returnImmediately: true } }),
    );

  for (let i = 0; i < 32; i++) expect((await begin(`m-${i}`)).json).toHaveProperty("result");
  expect((await begin("one-more")).json).toMatchObject({
    error: { code: -32603, message: expect.stringMatching(/^32 of your tasks/), data: [{ metadata: quota }] },
  });
  resolve();
});

test("a caller whose tasks that have not ended take all its room is refused for now, and is told the room", {
  timeout: 60_000,
}, async () => {
  await using system = await startSystem(async () => ({
    text: "Which?",
    report: { status: "input-required", format: "text" },
  }));
  const params = (messageId: string) => ({ message: { ...message, messageId } });
  for (let i = 0; i < 200; i += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => system.post("rpc", rpc("SendMessage", params(`m-${i + index}`)))),
    );

  const refused = {
    message: expect.stringMatching(
      /all the room .* 200 tasks, and its part of the 134217728 characters .* or cancel one$/,
    ),
  };
  const byRpc = await system.post("rpc", rpc("SendMessage", params("one-more")));
  expect(byRpc.json).toMatchObject({
    error: { ...refused, code: -32603, data: [{ reason: "INTERNAL_ERROR", metadata: quota }] },
  });
  const byHttp = await system.post("http/message:send", JSON.stringify(params("one-more")));
  expect([byHttp.status, byHttp.json]).toEqual([
    503,
    {
      error: expect.objectContaining({
        ...refused,
        code: 503,
        details: [expect.objectContaining({ metadata: quota })],
      }),
    },
  ]);
  expect(system.agent.turns).toHaveLength(200);
});

/** Asks for a stream, and reads nothing of it. */
function askAndReadNothing(port: number, messageId: string) {
  const body = rpc("SendStreamingMessage", { message: { ...message, messageId } });
  const socket = connect(port, "127.0.0.1");
  socket.pause();
  socket.on("error", () => {});
  const head = [
    "POST /a2a/agent/rpc HTTP/1.1",
    "host: localhost",
    "content-type: application/json",
    "a2a-version: 1.0",
    `content-length: ${body.length}`,
  ];
  socket.write([...head, "", body].join("\r\n"));
  return socket;
}

const startTalkative = (events: number) =>
  startSystem(async ({ tell }) => {
    for (let i = 0; i < events; i++) await tell({ kind: "text", text: "x".repeat(100_000) });
    return { text: "Done." };
  });

test("a client that does not read its stream holds up neither its task nor others", { timeout: 60_000 }, async () => {
  await using system = await startTalkative(400);
  const socket = askAndReadNothing(system.port, "m");

  await expect
    .poll(async () => JSON.stringify((await system.post("rpc", rpc("ListTasks", {}))).json), { timeout: 30_000 })
    .toContain("TASK_STATE_COMPLETED");
  socket.destroy();
});

test("of many streams that one caller leaves unread those with most are cut off, though each is within its bound", {
  timeout: 60_000,
}, async () => {
  await using system = await startTalkative(155);
  const countSockets = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
  const before = countSockets();
  const sockets = Array.from({ length: 8 }, (_, index) => askAndReadNothing(system.port, `m-${index}`));

  await expect.poll(() => system.agent.turns.length, { timeout: 20_000 }).toBe(8);
  await expect.poll(() => countSockets() - before, { timeout: 30_000 }).toBeLessThanOrEqual(11); // the clients' ends, and two or three of the gateway's
  for (const socket of sockets) socket.destroy();
});

test.each([
  ["GET", "/a2a/agent/http/tasks/%E0%A4%A"],
  ["GET", "/a2a/agent/nothing"],
  ["GET", "/a2a/agent/rpc"],
  ["DELETE", "/a2a/agent/http/message:send"],
  ["GET", "/a2a/agent/http/tenant/tasks/%00"],
])("%s %s is answered with JSON, and without a word on this program", async (method, path) => {
  await using system = await startSystem();

  const { status, json, text } = await system.send({ path, method, headers: { "a2a-version": "1.0" } });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(json).toBeDefined();
  expect(text).not.toMatch(/node_modules|file:|at \w+|<html/);
});
