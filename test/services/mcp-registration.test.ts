import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { offerMcpTools } from "@rockbot/mcp/for-agents";
import {
  canMakeCertificates,
  faultServer,
  httpFaults,
  ownVirtualHost,
  startFaultHttpServer,
  startNodeProgram,
  startOwnRedis,
  startTlsPeer,
  temporaryFolder,
} from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";

const MAIN = join(import.meta.dirname, "../../services/main.ts");
const WAIT = { timeout: 30_000, interval: 100 };

// The certificate that the bridge is told to trust is made by openssl.
test.skipIf(!canMakeCertificates())(
  "an agent registers a server by its https address at one bridge, the other has it too, and after a kill of both it is still there",
  { timeout: 240_000 },
  async () => {
    using folder = temporaryFolder();
    const [config, policy, ca] = ["mcp.json", "policy.yaml", "ca.pem"].map((name) => join(folder.path, name)) as [
      string,
      string,
      string,
    ];
    await using peer = await startFaultHttpServer();
    await using tls = await startTlsPeer(peer.url);
    await using redis = await startOwnRedis();
    await using broker = await ownVirtualHost(); // another test's bridge would take requests to this one's
    const amqpUrl = broker.url;
    writeFileSync(config, JSON.stringify({ mcpServers: { files: faultServer() } }));
    writeFileSync(
      policy,
      'callers: { registering-agent: { allow: ["*", mcp_register_server, mcp_unregister_server] } }',
    );
    writeFileSync(ca, tls.certificate);
    const env = {
      BUS_URL: amqpUrl,
      REDIS_URL: redis.url,
      MCP_CONFIG: config,
      POLICY_FILE: policy,
      REGISTRATION: "on",
      REGISTRATION_HOSTS: `localhost:${tls.port}`,
      NODE_EXTRA_CA_CERTS: ca,
    };
    await using bus = await connectBus(amqpUrl);
    await using caller = await createToolCaller(bus, { agent: "registering-agent", results: "copy" });
    await using _tools = await offerMcpTools(bus, caller, { agent: "registering-agent" });
    const server = { name: "acting", url: `https://localhost:${tls.port}/mcp` };
    {
      await using strict = startNodeProgram(MAIN, { args: ["mcp-bridge"], env });
      await expect.poll(strict.stdout, WAIT).toContain("connected to an MCP server");
      await expect.poll(() => caller.tools.getExecutor("mcp_register_server"), WAIT).toBeDefined();
      await expect(caller.call("mcp_register_server", server)).rejects.toMatchObject({
        code: "denied",
        message: expect.stringContaining("public Internet"),
      });
      expect(peer.authorizations).toEqual([]); // nobody has connected
      strict.kill("SIGTERM"); // in order: the broker would give what a killed one has not acknowledged to the next
      expect(await strict.ended, strict.stderr()).toBe(0);
    }
    const open = { ...env, REGISTRATION_ALLOW_ADDRESSES: `localhost:${tls.port}` };
    {
      await using one = startNodeProgram(MAIN, { args: ["mcp-bridge"], env: open });
      await using two = startNodeProgram(MAIN, { args: ["mcp-bridge"], env: open });
      for (const bridge of [one, two]) await expect.poll(bridge.stdout, WAIT).toContain('"files"');
      expect(await caller.call("mcp_register_server", server)).toMatchObject({
        content: expect.stringContaining("1 tool(s) available."),
      });
      for (const bridge of [one, two])
        await expect.poll(bridge.stdout, WAIT).toMatch(/"server":"acting".*connected to an MCP server/);
      await expect.poll(async () => (await caller.call("mcp_list_services", {})).content, WAIT).toContain("acting");
      expect(await caller.call("mcp_invoke_tool", { server_name: "acting", tool_name: "act" })).toMatchObject({
        content: "fine",
      });
      peer.answer = httpFaults.redirect("http://169.254.169.254/latest/meta-data");
      await expect(caller.call("mcp_invoke_tool", { server_name: "acting", tool_name: "act" })).rejects.toMatchObject({
        message: expect.not.stringContaining("169.254"),
      });
      peer.answer = httpFaults.ok;
      for (const bridge of [one, two]) bridge.kill("SIGKILL");
    }
    await using again = startNodeProgram(MAIN, { args: ["mcp-bridge"], env: open });
    await expect.poll(again.stdout, WAIT).toMatch(/"server":"acting".*connected to an MCP server/);
    expect((await caller.call("mcp_unregister_server", { server_name: "acting" })).content).toContain(
      "removed successfully",
    );
    await expect.poll(async () => (await caller.call("mcp_list_services", {})).content, WAIT).not.toContain("acting");
  },
);
