import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { registerSecret } from "@rockbot/base/redaction";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { floodSockets, startNodeProgram } from "@rockbot/testing";
import { expect, test } from "vitest";
import { callTool, startServer, testEnv, until } from "../../client/test-servers.ts";
import { type ServeMcpHttpOptions, serveMcpHttp } from "./serve-mcp-http.ts";
import type { ServedTool, ServedTools } from "./served-tool.ts";

const TOKEN = "token-of-this-test";

const tool = (name: string, run: ServedTool["run"], properties: object = {}): ServedTool => ({
  name,
  description: `The ${name}.`,
  inputSchema: { type: "object", additionalProperties: false, required: Object.keys(properties), properties },
  isReadOnly: true,
  run,
});

const served = (...tools: readonly ServedTool[]): ServedTools => ({
  name: "served",
  version: "1.0.0",
  instructions: "For tests.",
  tools,
});

const echo = tool("echo", async ({ text }) => String(text), {
  text: { type: "string", maxLength: 10 },
  times: { type: "integer" },
});

async function serve(tools: readonly ServedTool[], options: Partial<ServeMcpHttpOptions> = {}) {
  return serveMcpHttp(served(...tools), {
    host: "127.0.0.1",
    port: 0,
    token: () => TOKEN,
    allowedHosts: [],
    allowedOrigins: [],
    maxConcurrent: 16,
    drainMs: 5_000,
    ...options,
  });
}

const client = (url: string) => startServer({ type: "http", url, headers: { authorization: `Bearer ${TOKEN}` } });

test("clients of both eras list and call", async () => {
  await using server = await serve([echo]);
  await using modern = client(server.url);
  expect(await callTool(modern, "echo", { text: "ü", times: 1 })).toEqual({ content: "ü", isError: false });
  expect(modern.health).toMatchObject({ protocolVersion: "2026-07-28" });
  expect(modern.instructions?.description).toBe("For tests.");
  expect(modern.tools).toMatchObject([
    { name: "echo", description: "The echo.", annotations: { readOnly: true, idempotent: true } },
  ]);

  const legacy = new LegacyClient({ name: "old", version: "1.0.0" });
  await legacy.connect(
    new LegacyHttpTransport(new URL(server.url), {
      requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
    }) as Parameters<LegacyClient["connect"]>[0],
  );
  expect((await legacy.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
  expect(await legacy.callTool({ name: "echo", arguments: { text: "old", times: 1 } })).toMatchObject({
    content: [{ type: "text", text: "old" }],
  });
  await legacy.close();
});

test("a failure is a result in words, with its code, and without a secret", async () => {
  registerSecret("canary-of-serving");
  await using server = await serve([
    echo,
    tool("limited", async () => {
      throw new ToolError(ToolErrorCode.RateLimited, "Too often, says canary-of-serving. Try again in 3 s.", {
        retryAfterMs: 3_000,
      });
    }),
    tool("broken", async () => {
      throw new TypeError("canary of a fault of ours");
    }),
  ]);
  await using connected = client(server.url);
  expect(await callTool(connected, "limited")).toEqual({
    content: expect.stringMatching(/^Too often, says (?!canary).* Try again in 3 s\.$/),
    structured: { code: "rate_limited", isRetryable: true, retryAfterMs: 3_000 },
    isError: true,
  });
  expect(await callTool(connected, "broken")).toMatchObject({
    content: '"broken" failed. The operator finds more in its log.',
    structured: { code: "execution_failed" },
  });
  const { content, structured } = await callTool(connected, "echo", { text: "much too long", times: "two", more: 1 });
  expect(structured).toMatchObject({ code: "invalid_arguments" });
  for (const part of ["text", "times", "more"]) expect(content).toContain(part);
  await expect(callTool(connected, "ecco")).rejects.toMatchObject({ code: "tool_not_found" });
});

test("a client that gives up ends the call", async () => {
  const cancelled = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const waiting = tool("wait", async (_, { signal }) => {
    begun.resolve();
    await once(signal, "abort");
    cancelled.resolve();
    return "cancelled";
  });
  await using server = await serve([waiting]);
  await using connected = client(server.url);
  const cancel = new AbortController();
  const call = callTool(connected, "wait", {}, { signal: cancel.signal }).catch((error: unknown) => error);
  await begun.promise;
  cancel.abort();
  await call;
  await cancelled.promise;
});

test("requests with a wrong token leave their trace in the log: the first at once, the others as a number, none with the token", async () => {
  const said: object[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (fields: object) => void said.push(fields) };
  {
    await using server = await serve([echo], { log });
    for (let i = 0; i < 50; i++)
      await fetch(server.url, { method: "POST", headers: { authorization: `Bearer wrong-${i}` } });
  }
  const refused = { address: "127.0.0.1", status: "401" };
  expect(said).toEqual([
    { ...refused, count: 1 },
    { ...refused, count: 49 },
  ]);
});

test("without the token, by a strange name, from a strange page, elsewhere, or too large a request is refused in words", async () => {
  await using server = await serve([echo], {
    allowedOrigins: ["https://Chat.example:443"],
    allowedHosts: ["tools.example"],
  });
  const initialize = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  const post = async (headers: Record<string, string>, { path = "/mcp", body = initialize } = {}) => {
    const response = await fetch(new URL(path, server.url), {
      method: "POST",
      headers: {
        authorization: `Bearer ${TOKEN}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body,
    });
    return { status: response.status, text: await response.text() };
  };
  expect(await post({})).toMatchObject({ status: 200 });
  expect(await post({ origin: "https://chat.example" })).toMatchObject({ status: 200 });
  expect(await post({ authorization: "" })).toMatchObject({
    status: 401,
    text: expect.stringContaining("Authorization: Bearer"),
  });
  expect(await post({ authorization: `Bearer ${TOKEN}x` })).toMatchObject({
    status: 401,
    text: expect.not.stringContaining(TOKEN),
  });
  expect(await post({ origin: "https://evil.example" })).toMatchObject({
    status: 403,
    text: expect.stringContaining("allowedOrigins"),
  });
  const statusFor = async (host: string): Promise<number | undefined> => {
    const [response] = (await once(
      request(server.url, { headers: { host, authorization: `Bearer ${TOKEN}` } }).end(),
      "response",
    )) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  expect([await statusFor("evil.example"), await statusFor("tools.example:8482")]).toEqual([403, 405]);
  expect(await post({}, { path: "/other" })).toMatchObject({ status: 404 });
  expect(await post({}, { body: `{"a":"${"x".repeat(1_100_000)}"}` })).toMatchObject({
    status: 413,
    text: expect.stringContaining('"code":"too_large"'),
  });
  expect(await post({}, { body: `{"a":"${"x".repeat(1_100_000)}","id":7}` })).toMatchObject({
    status: 200,
    text: expect.stringMatching(/"id":7.*"code":"too_large"/),
  });
  expect(
    await post({}, { body: '{"jsonrpc":"2.0","id":8,"method":"ping","params":{"a":9007199254740993}}' }),
  ).toMatchObject({
    status: 200,
    text: expect.stringMatching(/"id":8.*9007199254740993.*"code":"invalid_arguments"/),
  });
  expect(await post({}, { body: '{"a":' })).toMatchObject({
    status: 400,
    text: expect.stringContaining("not valid JSON"),
  });
});

test("more requests than are taken at once are refused, and disposal waits for those that run", async () => {
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<string>();
  const slow = tool("slow", () => {
    begun.resolve();
    return go.promise;
  });
  const server = await serve([slow, echo], { maxConcurrent: 1 });
  await using connected = client(server.url);
  await until(connected, "ready");
  const running = callTool(connected, "slow");
  await begun.promise;
  await expect(callTool(connected, "slow")).rejects.toMatchObject({
    code: "unavailable",
    details: { mayHaveRun: false },
  });
  const disposed = server[Symbol.asyncDispose]();
  go.resolve("done");
  expect(await running).toMatchObject({ content: "done" });
  await disposed;
  await expect(fetch(server.url)).rejects.toThrow();
});

test("halves of bodies with the token keep no client out that has it, too", async () => {
  await using server = await serve([echo], { maxConcurrent: 4 });
  using sockets = new DisposableStack();
  const { port, host } = new URL(server.url);
  for (let i = 0; i < 12; i++) {
    const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
    sockets.defer(() => void socket.destroy());
    await new Promise((sent) =>
      socket.write(
        `POST /mcp HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${TOKEN}\r\ncontent-length: 9\r\n\r\n{`,
        sent,
      ),
    );
  }
  await using connected = client(server.url);

  expect(await callTool(connected, "echo", { text: "ü", times: 1 })).toEqual({ content: "ü", isError: false });
});

test("2 100 silent connections keep no client out that has the token", { timeout: 60_000 }, async () => {
  await using server = await serve([echo]);
  using _flood = await floodSockets({ port: Number(new URL(server.url).port), host: "127.0.0.1" }, 2100, "silent");
  await using connected = client(server.url);

  expect(await callTool(connected, "echo", { text: "through", times: 1 })).toEqual({
    content: "through",
    isError: false,
  });
});

test("a port that is taken is an error that says so", async () => {
  await using server = await serve([echo]);
  await expect(serve([echo], { port: Number(new URL(server.url).port) })).rejects.toThrow(
    /Cannot listen on 127\.0\.0\.1:\d+: EADDRINUSE/,
  );
});

test("over stdio a client lists and calls, and the program ends with it", async () => {
  const program = join(import.meta.dirname, "../../client/test-served-stdio.ts");
  await using connected = startServer({ type: "stdio", command: process.execPath, args: [program], env: testEnv });
  expect(await callTool(connected, "echo", { text: "over pipes" })).toEqual({ content: "over pipes", isError: false });
  expect(connected.health).toMatchObject({ protocolVersion: "2026-07-28", transport: "stdio" });
  await using alone = startNodeProgram(program); // nobody at its stdin
  expect([await alone.ended, alone.stdout(), alone.stderr()]).toEqual([0, "", ""]);
});
