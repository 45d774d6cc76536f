import { defineTool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { loose, serveOne, startTestGateway } from "./test-gateway.ts";

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

/** What a tool gives as JSON, and what has to come out. */
const results: Readonly<Record<string, readonly [given: unknown, out: string]>> = {
  "65 levels": [JSON.parse(nested(65)), nested(65)],
  "900 levels": [JSON.parse(nested(900)), nested(900)],
  "keys that lead to prototypes": [
    JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}'),
    '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}',
  ],
  "numbers that JSON has not": [
    { a: Number.POSITIVE_INFINITY, b: 2n ** 64n },
    '{"a":"Infinity","b":"18446744073709551616"}',
  ],
};

test.each(Object.entries(results))("a result with %s leaves by each door", async (_what, [structured, out]) => {
  await using gateway = await startTestGateway();
  await using _service = await serveOne(
    gateway.bus,
    defineTool(loose("odd"), async () => ({ content: "text", structured: structured as never })),
  );

  expect((await gateway.invoke("odd", {})).text).toContain(`"structured":${out}`);
  expect((await gateway.invoke("odd", {}, { accept: "text/event-stream" })).text).toContain(`"structured":${out}`);
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "odd", arguments: {} } };
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
  };
  const answer = await gateway.send({ path: "/mcp", method: "POST", headers }, JSON.stringify(call));
  expect(answer.text).toContain(`"structuredContent":${out}`);
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
});

test("arguments with a number that JavaScript changes are refused in words at each door", async () => {
  await using gateway = await startTestGateway();
  const body = '{"id":9007199254740993}';
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
  };
  const asked = [
    gateway.send(
      { path: "/v1/tools/echo/invoke", method: "POST", headers: { "content-type": "application/json" } },
      body,
    ),
    gateway.send(
      { path: "/mcp", method: "POST", headers },
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${body}}}`,
    ),
  ];
  for (const { status, text } of await Promise.all(asked)) {
    expect(status).toBe(400);
    expect(text).toContain("the number 9007199254740993, which would become 9007199254740992");
  }
});
