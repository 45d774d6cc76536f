import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createEnvelope, encodeMessage, messages, newId } from "@rockbot/contracts";
import { offerMcpTools } from "@rockbot/mcp/for-agents";
import { faultServer, startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { verifiedHost } from "./verified-broker.ts";
import { connect } from "./verified-system.ts";

const MAIN = join(import.meta.dirname, "../../services/main.ts");
const CLI = join(import.meta.dirname, "../../packages/cli/src/main.ts");
const POLICY = `
identity: verified
callers: { researcher: { allow: ["*"] }, writer: { allow: ["*"] } }
services: { mcp-bridge: { topic: tool.invoke.mcp, tools: ["files__*"] } }
delegates: []
`;

test("with the rights of the policy alone an agent uses the bridge, is told of servers only itself, and lists them by the command", {
  timeout: 120_000,
}, async () => {
  await using broker = await verifiedHost(POLICY);
  using folder = temporaryFolder();
  const auditFile = join(folder.path, "audit.jsonl");
  const env = {
    BUS_URL_FILE: folder.write("url", broker.urlOf("mcp-bridge")),
    MCP_CONFIG: folder.write("mcp.json", { mcpServers: { files: faultServer() } }),
    POLICY_FILE: folder.write("policy.yaml", POLICY),
  };
  await using bridge = startNodeProgram(MAIN, { args: ["mcp-bridge"], env: { ...env, AUDIT_FILE: auditFile } });
  for (const line of ["connected to an MCP server", '"msg":"ready"'])
    await expect.poll(bridge.stdout, { timeout: 60_000 }).toContain(line);

  await using writer = await connect(broker, "writer");
  const overheard: string[] = [];
  const listen = async ({ type }: { readonly type: string }) => void overheard.push(type);
  await using _ears = await writer.subscribe(
    { name: "ears", topics: ["mcp.manage.response.writer", "tool.meta.mcp.writer"], kind: "copy" },
    listen,
  );
  await using researcher = await connect(broker, "researcher");
  const foreign = { replyTo: "mcp.manage.response.writer", source: "writer", correlationId: newId() };
  const details = encodeMessage("McpGetServiceDetailsRequest", { serverName: "files" });
  await researcher.publish(
    createEnvelope({ topic: "mcp.manage", type: messages.McpGetServiceDetailsRequest.type, body: details, ...foreign }),
  );
  const refresh = encodeMessage("McpMetadataRefreshRequest", { serverName: null });
  await researcher.publish(
    createEnvelope({
      topic: "tool.meta.mcp.refresh",
      type: messages.McpMetadataRefreshRequest.type,
      body: refresh,
      source: "writer",
    }),
  );

  await using caller = await createToolCaller(researcher, { agent: "researcher", policy: broker.policy });
  await using _tools = await offerMcpTools(researcher, caller, { agent: "researcher", policy: broker.policy });
  await expect.poll(() => caller.tools.getExecutor("mcp_get_service_details"), { timeout: 10_000 }).toBeDefined();
  expect((await caller.call("mcp_get_service_details", { server_name: "files" })).content).toContain("echo");
  await expect.poll(() => caller.tools.getExecutor("files__echo"), { timeout: 10_000 }).toBeDefined();
  expect(
    await caller.call("mcp_invoke_tool", { server_name: "files", tool_name: "echo", arguments: { a: 1 } }),
  ).toMatchObject({ content: '{"a":1}' });
  expect(overheard).toEqual([]);

  const listing = ["mcp", "ls", "--bus", broker.urlOf("researcher"), "--policy", env.POLICY_FILE];
  await using listed = startNodeProgram(CLI, { args: listing });
  expect([await listed.ended, listed.stderr()]).toEqual([0, expect.stringContaining("1 MCP servers")]);
  expect(listed.stdout()).toMatch(/^files +\d+ tools {2}.*\becho\b/m);
  expect(readFileSync(auditFile, "utf8")).toMatch(/"caller":"researcher","tool":"files__echo"/);
});
