import { createMemoryBus } from "@rockbot/bus";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import type { BridgedServer } from "../bridged-server.ts";
import { mcpTool } from "./mcp-tool.ts";

const annotations = { readOnly: false, idempotent: false, destructive: true, openWorld: true };

test("a tool that gives a list is announced with the object in which its list crosses the bus", () => {
  const server = { name: "peer", trustsAnnotations: false } as BridgedServer;
  const inputSchema = { type: "object" };
  const outputSchema = { type: "array" };
  const { definition } = mcpTool(server, {
    name: "list",
    description: "Lists.",
    inputSchema,
    outputSchema,
    annotations,
  });

  const structured = { type: "object", required: ["$value"], properties: { $value: outputSchema } };
  expect(definition.outputSchema).toEqual(structured);
});

test("a call brings the defaults that the schema requires, and no null that it refuses; what still does not fit is refused", async () => {
  const sent: object[] = [];
  const server = {
    name: "peer",
    trustsAnnotations: false,
    callTool: async (_: unknown, args: object) => ({ content: String(sent.push(args)), isError: false }),
  };
  const properties = { query: { type: "string" }, limit: { type: "integer", default: 5 }, tag: { type: "string" } };
  const inputSchema = { type: "object", required: ["query", "limit"], additionalProperties: false, properties };
  const tool = mcpTool(server as unknown as BridgedServer, {
    name: "find",
    description: "Finds.",
    inputSchema,
    annotations,
  });
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, { tools: [tool], guides: [] }, { service: "mcp-bridge" });
  await using caller = await createToolCaller(bus, { agent: "tester" });

  await caller.call("peer__find", { query: "a", tag: null });
  await caller.call("peer__find", { query: "a", limit: 1, tag: "b" });
  expect(sent).toEqual([
    { query: "a", limit: 5 },
    { query: "a", limit: 1, tag: "b" },
  ]);
  await expect(caller.call("peer__find", { tag: null })).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringContaining("query"),
  });
  expect(sent).toHaveLength(2);
});
