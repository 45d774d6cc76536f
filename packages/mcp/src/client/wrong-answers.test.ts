import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { faultServer, startFaultHttpServer } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { callTool, startServer, testEnv, until } from "./test-servers.ts";

/** How an answer comes, whatever it is. */
const ways = {
  async stdio() {
    const server = startServer({ type: "stdio", env: testEnv, ...faultServer() });
    return {
      ask: (answer: string) => callTool(server, "say", { lines: answer }),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  WebSocket: () => overWebSocket(),
  json: () => overHttp("application/json", (answer) => answer),
  "a stream of events": () =>
    overHttp(
      "text/event-stream",
      (answer) => `: hello\n\nid: 1\r\nevent: message\r\ndata: ${answer.replace(",", ",\r\ndata: ")}\r\n\r\n`,
    ),
} as const;

async function overWebSocket() {
  await using stack = new AsyncDisposableStack();
  const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0, handleProtocols: () => "mcp" });
  stack.defer(() => sockets.close());
  await once(sockets, "listening");
  let said = "";
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: "2025-11-25",
      serverInfo: { name: "raw", version: "1" },
      capabilities: { tools: {} },
    },
    "tools/list": { tools: [{ name: "act", inputSchema: { type: "object" } }] },
  };
  sockets.on("connection", (socket) =>
    socket.on("message", (message) => {
      const { id, method } = JSON.parse(String(message)) as { readonly id?: number; readonly method: string };
      const result = results[method];
      const rest = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
      if (method === "tools/call") socket.send(said.replaceAll("$ID", String(id)));
      else if (id !== undefined) socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...rest }));
    }),
  );
  const server = stack.use(
    startServer({ type: "websocket", url: `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`, headers: {} }),
  );
  await until(server, "ready");
  const parts = stack.move();
  return {
    ask(answer: string) {
      said = answer;
      return callTool(server, "act");
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function overHttp(type: string, write: (answer: string) => string) {
  await using stack = new AsyncDisposableStack();
  const peer = stack.use(await startFaultHttpServer());
  const server = stack.use(startServer({ type: "http", url: peer.url, headers: {} }));
  await until(server, "ready");
  const parts = stack.move();
  return {
    ask(answer: string) {
      peer.answer = (response, _, id) => {
        const bytes = Buffer.from(write(answer.replaceAll("$ID", String(id))));
        response.writeHead(200, { "content-type": type });
        response.write(bytes.subarray(0, bytes.length / 2));
        setImmediate(() => response.write(bytes.subarray(bytes.length / 2))); // the stream stays open: the call must not wait for its end
        if (type === "application/json") setImmediate(() => response.end());
      };
      return callTool(server, "act");
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const failed = { code: "execution_failed", isRetryable: false, details: { mayHaveRun: true } };
const saying = (words: string) => ({ ...failed, message: expect.stringContaining(words) });
const answered = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"fine"}]}}';
const data = '"result":{"content":[{"type":"text","text":"fine"}],"structuredContent"';

describe.each(Object.entries(ways))("over %s", (_way, open) => {
  test.each<[string, string, object]>([
    [
      "an error with a text for a code",
      '{"jsonrpc":"2.0","id":$ID,"error":{"code":"E_PAPER","message":"out of paper"}}',
      saying("The server says: E_PAPER: out of paper"),
    ],
    [
      "an error without a code",
      '{"jsonrpc":"2.0","id":$ID,"error":{"message":"out of paper"}}',
      saying("The server says: out of paper"),
    ],
    [
      "an error with a code that is too large",
      '{"jsonrpc":"2.0","id":$ID,"error":{"code":1e999,"message":"out of paper"}}',
      saying("The server says: 1e999: out of paper"),
    ],
    [
      "an error that is a text",
      '{"jsonrpc":"2.0","id":$ID,"error":"out of paper"}',
      saying("The server says: out of paper"),
    ],
    [
      "a result that is a text",
      '{"jsonrpc":"2.0","id":$ID,"result":"fine"}',
      saying("not a valid result of the protocol"),
    ],
    ["no result", '{"jsonrpc":"2.0","id":$ID,"result":null}', saying("neither a result nor an error")],
    [
      "a result beside an error that is none",
      `{"jsonrpc":"2.0","id":$ID,"error":null,${data}:{"a":1}}}`,
      { content: "fine", structured: { a: 1 } },
    ],
    [
      "a result of another version, and more",
      `{"id":$ID,"took":5,${data}:{"a":1}}}`,
      { content: "fine", structured: { a: 1 } },
    ],
    [
      "65 levels",
      `{"jsonrpc":"2.0","id":$ID,${data}:{"a":${nested(65)}}}}`,
      { content: "fine", structured: { a: JSON.parse(nested(65)) as unknown } },
    ],
    [
      "numbers that JavaScript changes",
      `{"jsonrpc":"2.0","id":$ID,${data}:{"a":[9007199254740993,1e999,1]}}}`,
      { structured: { a: ["9007199254740993", "1e999", 1] } },
    ],
  ])("an answer with %s ends its call at once", async (_what, answer, expected) => {
    await using server = await open();
    expect(await server.ask(answer).catch((error: unknown) => error)).toMatchObject(expected);
  });

  test("keys that lead to prototypes are carried", async () => {
    await using server = await open();
    const structured =
      '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}},"a":{"__proto__":1}}';
    expect(JSON.stringify((await server.ask(`{"jsonrpc":"2.0","id":$ID,${data}:${structured}}}`)).structured)).toBe(
      structured,
    );
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });
});

test.each(["stdio", "WebSocket"] as const)(
  "an answer in a list beside what is no message is found, over %s",
  async (way) => {
    await using server = await ways[way]();
    expect(await server.ask(`[7,${answered}]`)).toMatchObject({ content: "fine" });
  },
);

test.each(Object.entries(ways))(
  "an error that names no request is that of the one request that it can answer, over %s",
  async (_way, open) => {
    await using server = await open();
    await expect(
      server.ask('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"cannot read it"}}'),
    ).rejects.toMatchObject(saying("cannot read it"));
  },
);

test.each<[string, string, object]>([
  [
    "for a log",
    `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${nested(50_000)}}}\n${answered}`,
    { content: "fine" },
  ],
  [
    "in the words of an error",
    `{"jsonrpc":"2.0","id":$ID,"error":{"message":${nested(50_000)}}}`,
    saying("nested too deeply"),
  ],
  ["in a result of another version", `{"id":$ID,${data}:${nested(50_000)}}}`, saying("nested too deeply")],
])("a program that says what nests without end %s ends nobody but its own call", async (_where, lines, expected) => {
  await using server = await ways.stdio();
  expect(await server.ask(lines).catch((error: unknown) => error)).toMatchObject(expected);
});

test("a server of the newer era that asks in the middle of a call is answered, so that it goes on", async () => {
  const script = `
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
    const cached = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
    const results = {
      "server/discover": { ...cached, supportedVersions: ["2026-07-28"], serverInfo: { name: "asks", version: "1" }, capabilities: { tools: {} } },
      "tools/list": { ...cached, tools: [{ name: "act", inputSchema: { type: "object" } }] },
    };
    let call;
    const heard = [];
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, ...said } = JSON.parse(line);
      if (results[method]) return say({ id, result: results[method] });
      if (method === "tools/call") { call = id; for (const asked of ["ping", "roots/list"]) say({ id: asked, method: asked }); }
      if (method === undefined && heard.push(said.error?.code ?? said.result) === 2)
        say({ id: call, result: { resultType: "complete", content: [{ type: "text", text: JSON.stringify(heard) }] } });
    });`;
  await using server = startServer({ type: "stdio", env: testEnv, command: process.execPath, args: ["-e", script] });
  expect(await callTool(server, "act")).toMatchObject({ content: "[{},-32601]" });
  expect(server.health.protocolVersion).toBe("2026-07-28");
});
