import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { faultServer, ownVirtualHost, startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startOriginalAgent } from "./original-agent.ts";

const MAIN = join(import.meta.dirname, "../../services/main.ts");
const AGENT = "RockBot";
const MANAGED = { replyTo: `mcp.manage.response.${AGENT}` };
const tools = (name: string): string => `RockBot.Tools.${name}`;

// Long because: one agent goes its way through the bridge, step by step
test("the agent of the original, made from the wire contract alone, drives the bridge", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  const [calendar, other] = [
    { ...faultServer(), toolsAllowed: ["echo"] },
    { ...faultServer(), toolsAllowed: ["twice"] },
  ];
  const file = folder.write("mcp.json", { mcpServers: { "Calendar-MCP": calendar, other } });
  await using broker = await ownVirtualHost(); // the bridges of other tests would take calls from a shared one
  const { url } = broker;
  await using bridge = startNodeProgram(MAIN, { args: ["mcp-bridge"], env: { BUS_URL: url, MCP_CONFIG: file } });
  await expect.poll(() => bridge.stdout().match(/connected to an MCP server/g)?.length, { timeout: 60_000 }).toBe(2);
  await expect.poll(bridge.stdout, { timeout: 60_000 }).toContain('"msg":"ready"'); // from then on it takes messages
  await using agent = await startOriginalAgent(url, AGENT);
  const invoke = (toolName: string, args: string | null, headers: Record<string, string> = {}) =>
    agent.ask(
      "tool.invoke.mcp",
      tools("ToolInvokeRequest"),
      {
        toolCallId: randomUUID().replaceAll("-", ""),
        toolName,
        arguments: args,
        sessionId: null,
      },
      {
        replyTo: `tool.result.${AGENT}`,
        headers: {
          "rb-rb-content-trust": "tool-request",
          "rb-rb-tool-provider": "mcp",
          "rb-rb-timeout-ms": "60000",
          ...headers,
        },
      },
    );

  // It asks for the index once it has started, and hears each server by an increment.
  agent.publish("tool.meta.mcp.refresh", tools("Mcp.McpMetadataRefreshRequest"), { serverName: null });
  const indexed = () => agent.received.filter(({ type }) => type === tools("Mcp.McpServersIndexed"));
  const servers = () => indexed().flatMap(({ body }) => body["servers"] as object[]);
  await expect.poll(servers, { timeout: 30_000 }).toEqual(
    expect.arrayContaining([
      {
        serverName: "Calendar-MCP",
        displayName: null,
        summary: "Provides 1 tool(s): echo.",
        toolCount: 1,
        toolNames: ["echo"],
      },
      {
        serverName: "other",
        displayName: null,
        summary: "Provides 1 tool(s): twice.",
        toolCount: 1,
        toolNames: ["twice"],
      },
    ]),
  );
  expect(indexed()[0]?.properties).toMatchObject({
    correlationId: "",
    replyTo: "",
    contentType: "application/json",
    deliveryMode: 2,
  });
  expect(indexed()[0]?.properties.headers).toMatchObject({ "rb-rb-content-trust": "system" });

  // Details, of a server and of one that is not there.
  const details = await agent.ask(
    "mcp.manage",
    tools("Mcp.McpGetServiceDetailsRequest"),
    { serverName: "other" },
    MANAGED,
  );
  expect(details).toMatchObject({
    type: tools("Mcp.McpGetServiceDetailsResponse"),
    body: {
      serverName: "other",
      tools: [{ name: "twice", description: expect.any(String), parametersSchema: expect.stringContaining('"type"') }],
      error: null,
    },
  });
  expect(details.properties).toMatchObject({ replyTo: "", contentType: "application/json", deliveryMode: 2 });
  expect(details.properties.headers).toMatchObject({
    "rb-rb-content-trust": "tool-output",
    "rb-rb-tool-provider": "mcp",
  });
  expect(
    (await agent.ask("mcp.manage", tools("Mcp.McpGetServiceDetailsRequest"), { serverName: "weather" }, MANAGED)).body,
  ).toMatchObject({
    serverName: "weather",
    tools: [],
    error: expect.any(String),
  });

  // Calls: the server named by the header, lower-cased as the original's proxy does, or found by the tool's own name.
  const byHeader = await invoke("echo", '{"from":"2026-02-26","limit":10}', { "rb-rb-mcp-server": "calendar-mcp" });
  expect(byHeader).toMatchObject({
    type: tools("ToolInvokeResponse"),
    body: {
      toolCallId: expect.stringMatching(/^[0-9a-f]{32}$/),
      toolName: "echo",
      content: '{"from":"2026-02-26","limit":10}',
      isError: false,
    },
  });
  expect(byHeader.properties).toMatchObject({ replyTo: "", contentType: "application/json", deliveryMode: 2 });
  expect(byHeader.properties.headers).toMatchObject({
    "rb-rb-content-trust": "tool-output",
    "rb-rb-tool-provider": "mcp",
  });
  expect(await invoke("echo", null, { "rb-rb-mcp-server": "calendar-mcp" })).toMatchObject({ body: { content: "{}" } });
  expect(await invoke("twice", null)).toMatchObject({
    type: tools("ToolInvokeResponse"),
    body: { toolName: "twice", content: "first", isError: false },
  });
  for (const unknown of [
    await invoke("echo", null, { "rb-rb-mcp-server": "weather" }),
    await invoke("no_such_tool", null),
  ]) {
    expect(unknown.type).toBe(tools("ToolError"));
    expect(unknown.body).toMatchObject({ code: "tool_not_found", isRetryable: false, message: expect.any(String) });
  }

  // A server by name is told again; what would add one is answered in the original's form, and refused.
  const before = indexed().length;
  agent.publish("tool.meta.mcp.refresh", tools("Mcp.McpMetadataRefreshRequest"), { serverName: "other" });
  await expect.poll(() => indexed().length, { timeout: 30_000 }).toBeGreaterThan(before);
  const registration = { serverName: "evil", type: "stdio", url: null, command: "sh", args: ["-c", "true"], env: {} };
  expect(await agent.ask("mcp.manage", tools("Mcp.McpRegisterServerRequest"), registration, MANAGED)).toMatchObject({
    type: tools("Mcp.McpRegisterServerResponse"),
    body: { serverName: "evil", success: false, error: expect.any(String) },
  });

  // A server that goes is told as removed.
  folder.write("mcp.json", { mcpServers: { other } });
  agent.publish("tool.meta.mcp.refresh", tools("Mcp.McpMetadataRefreshRequest"), { serverName: null });
  await expect
    .poll(() => indexed().flatMap(({ body }) => body["removedServers"] as string[]), { timeout: 30_000 })
    .toContain("Calendar-MCP");
});
