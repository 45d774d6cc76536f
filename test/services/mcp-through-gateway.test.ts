import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMemoryBus } from "@rockbot/bus";
import { createEnvelope, decodeMessage, encodeMessage, type McpServersIndexed, messages } from "@rockbot/contracts";
import { configSchema as gatewaySchema, startGateway } from "@rockbot/gateway";
import { configSchema as bridgeSchema, startMcpBridge } from "@rockbot/mcp-bridge";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { faultServer, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";

const hashOf = (token: string): string => `"sha256:${createHash("sha256").update(token).digest("hex")}"`;
const MCP_TOOLS = "mcp_list_services, mcp_get_service_details, mcp_invoke_tool";
/** Two callers who may look at servers, of whom one may use one tool of one server, and one who may not look. */
const POLICY = `
everyone: { allow: [] }
callers:
  reader: { allow: [${MCP_TOOLS}, files__echo], tokens: [{ hash: ${hashOf("token-of-the-reader")} }] }
  clerk: { allow: ["*"], deny: [secret__*], tokens: [{ hash: ${hashOf("token-of-the-clerk")} }] }
  writer: { allow: [files__echo], tokens: [{ hash: ${hashOf("token-of-the-writer")} }] }
`;
const WAIT = { timeout: 30_000, interval: 50 };

/** A bridge with two servers, and a gateway before it. */
async function start(policyText = POLICY) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const mcpConfig = join(folder.path, "mcp.json");
  writeFileSync(mcpConfig, JSON.stringify({ mcpServers: { files: faultServer(), secret: faultServer() } }));
  const policy = holdPolicy(createPolicy(await readPolicy(policyText, "policy.yaml")));
  const bus = started.use(createMemoryBus());
  const bridge = started.use(
    await startMcpBridge(bus, loadConfig(bridgeSchema, { env: {}, overrides: { mcpConfig } }), {
      env: process.env,
      policy,
    }),
  );
  const gateway = started.use(
    await startGateway(bus, loadConfig(gatewaySchema, { env: {}, overrides: { port: 0 } }), { policy }),
  );
  await expect.poll(() => bridge.servers.map(({ state }) => state), WAIT).toEqual(["ready", "ready"]);

  const headers = (who: string) => ({
    authorization: `Bearer token-of-the-${who}`,
    "content-type": "application/json",
  });
  async function invoke(who: string, tool: string, args: object = {}) {
    const response = await fetch(`${gateway.url}/v1/tools/${tool}/invoke`, {
      method: "POST",
      headers: headers(who),
      body: JSON.stringify(args),
    });
    return { status: response.status, text: await response.text() };
  }
  async function toolsOf(who: string): Promise<string[]> {
    const { tools } = (await (await fetch(`${gateway.url}/v1/tools`, { headers: headers(who) })).json()) as {
      tools: { name: string }[];
    };
    return tools.map(({ name }) => name);
  }
  await expect.poll(async () => (await invoke("clerk", "mcp_list_services")).text, WAIT).toContain("echo");
  const parts = started.move();
  return { bus, url: gateway.url, headers, invoke, toolsOf, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

test("a caller of the gateway finds the servers, reads their tools and calls them, and is told of nothing that it may not use", {
  timeout: 60_000,
}, async () => {
  await using system = await start();
  const { invoke, toolsOf } = system;
  expect((await toolsOf("reader")).filter((name) => name.startsWith("mcp_"))).toEqual([
    "mcp_get_service_details",
    "mcp_invoke_tool",
    "mcp_list_services",
  ]);
  expect((await toolsOf("writer")).filter((name) => name.startsWith("mcp_"))).toEqual([]);
  expect(await invoke("writer", "mcp_list_services")).toMatchObject({
    status: 403,
    text: expect.stringContaining('"code":"denied"'),
  });

  const listed = await invoke("reader", "mcp_list_services");
  const details = await invoke("reader", "mcp_get_service_details", { server_name: "FILES" });
  expect(JSON.parse(listed.text)).toMatchObject({
    structured: {
      services: [{ serverName: "files", toolCount: 1, toolNames: ["echo"], summary: "Provides 1 tool(s): echo." }],
    },
  });
  expect(JSON.parse(details.text)).toMatchObject({
    structured: { tools: [{ name: "echo", parametersSchema: expect.any(String) }] },
  });
  for (const [tool, args] of [
    ["mcp_list_services", {}],
    ["mcp_get_service_details", { server_name: "files" }],
    ["mcp_get_service_details", { server_name: "files", tool_name: "redefine" }],
    ["mcp_get_service_details", { server_name: "secre" }],
    ["mcp_invoke_tool", { server_name: "secre", tool_name: "echo" }],
  ] as const)
    expect((await invoke("reader", tool, args)).text).not.toMatch(/"secret"|hang|parametersSchema.*redefine/);
  expect((await invoke("clerk", "mcp_list_services")).text).toMatch(/^(?!.*secret).*hang/);

  expect(
    await invoke("reader", "mcp_invoke_tool", { server_name: "files", tool_name: "echo", arguments: { a: 1 } }),
  ).toMatchObject({
    status: 200,
    text: expect.stringContaining('{\\"a\\":1}'),
  });
  expect(await invoke("reader", "mcp_invoke_tool", { server_name: "files", tool_name: "redefine" })).toMatchObject({
    status: 403,
    text: expect.stringContaining('\\"reader\\" may not use'),
  });
  expect(await invoke("reader", "mcp_invoke_tool", { server_name: "secret", tool_name: "echo" })).toMatchObject({
    text: expect.stringContaining("There is no MCP server"),
  });
  expect(await invoke("clerk", "mcp_invoke_tool", { server_name: "secret", tool_name: "echo" })).toMatchObject({
    status: 404,
  });
});

test("an MCP client of the gateway finds, reads and calls the tools of servers likewise", {
  timeout: 60_000,
}, async () => {
  await using system = await start();
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", system.url), {
    requestInit: { headers: { authorization: system.headers("reader").authorization } },
  });
  await client.connect(transport);
  const text = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify((await client.callTool({ name, arguments: args })).content);

  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["files__echo", "mcp_invoke_tool", "mcp_list_services"]),
  );
  expect(await text("mcp_list_services", {})).toMatch(/^(?!.*(secret|hang)).*files/);
  expect(await text("mcp_get_service_details", { server_name: "files", tool_name: "echo" })).toMatch(
    /parameters\\*":\{\\*"type/,
  );
  expect(await text("mcp_invoke_tool", { server_name: "files", tool_name: "echo", arguments: { a: 1 } })).toContain(
    '{\\"a\\":1}',
  );
  await client.close();
});

test("the title of a server's tool reaches clients of MCP and of HTTP, without what hides in it", {
  timeout: 60_000,
}, async () => {
  await using system = await start();
  const headers = system.headers("clerk");
  const { authorization } = headers;
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", system.url), { requestInit: { headers: { authorization } } }),
  );
  const listed = (await (await fetch(`${system.url}/v1/tools`, { headers })).json()) as { tools: { name: string }[] };
  for (const { tools } of [await client.listTools(), listed]) {
    expect(tools.find(({ name }) => name === "files__whoami")).toMatchObject({ title: "Who am I" });
    expect(tools.find(({ name }) => name === "files__echo")).not.toHaveProperty("title");
  }
  await client.close();
});

test("an agent on the bus is told of what it may use, when it asks and when something changes, and a delegate of all", {
  timeout: 60_000,
}, async () => {
  await using system = await start();
  const { bus } = system;
  const ask = async (agent: string, ask: () => Promise<void>): Promise<McpServersIndexed> => {
    const heard = Promise.withResolvers<McpServersIndexed>();
    await using _ = await bus.subscribe(
      { name: `index-${agent}`, topics: [`tool.meta.mcp.${agent}`], kind: "copy" },
      async ({ body }) => {
        const index = decodeMessage("McpServersIndexed", body);
        if (index.ok && index.value.isSnapshot) heard.resolve(index.value);
      },
    );
    await ask();
    return await heard.promise;
  };
  const refresh = (agent: string) =>
    ask(agent, () =>
      bus.publish(
        createEnvelope({
          topic: "tool.meta.mcp.refresh",
          type: messages.McpMetadataRefreshRequest.type,
          source: agent,
          body: encodeMessage("McpMetadataRefreshRequest", { serverName: null }),
        }),
      ),
    );
  const told = async (agent: string) =>
    (await refresh(agent)).servers.map(({ serverName, toolNames = [] }) => [serverName, toolNames?.includes("hang")]);

  expect(await told("reader")).toEqual([["files", false]]);
  expect(await told("clerk")).toEqual([["files", true]]);
  expect(await told("nobody")).toEqual([]);
  expect(await told("gateway")).toEqual([
    ["files", true],
    ["secret", true],
  ]);
});
