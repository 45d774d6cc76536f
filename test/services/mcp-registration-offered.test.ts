import { createHash } from "node:crypto";
import { createAgent, mcpToolProxy } from "@rockbot/agent";
import { createMemoryBus } from "@rockbot/bus";
import { configSchema as gatewaySchema, startGateway } from "@rockbot/gateway";
import { createModel } from "@rockbot/llm";
import { configSchema as bridgeSchema, startMcpBridge } from "@rockbot/mcp-bridge";
import { openPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { faultServer, startModelServer, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";

const WAIT = { timeout: 20_000, interval: 50 };
const BOTH = ["mcp_register_server", "mcp_unregister_server"];
const tokenOf = (who: string): string =>
  `tokens: [{ hash: "sha256:${createHash("sha256").update(`token-of-the-${who}`).digest("hex")}" }]`;
const named = `allow: ["*", ${BOTH.join(", ")}]`;
const policyWith = (tokens: boolean, delegates = "gateway, agent"): string => `
delegates: [${delegates}]
callers:
  owner: { ${named}${tokens ? `, ${tokenOf("owner")}` : ""} }
  other: { allow: ["*", "mcp_*"]${tokens ? `, ${tokenOf("other")}` : ""} }
  gateway: { ${named} }
`;

const registering = (tools: readonly { readonly name: string }[]): string[] =>
  tools.map(({ name }) => name).filter((name) => BOTH.includes(name));

/** A bridge, a gateway and an agent over one bus. */
async function start(
  registration: "on" | "off",
  tokens: boolean,
  { delegates, gatewayHasPolicy = true }: { readonly delegates?: string; readonly gatewayHasPolicy?: boolean } = {},
) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const mcpConfig = folder.write("mcp.json", {
    mcpServers: { files: faultServer() },
    catalogue: { weather: faultServer() },
  });
  const file = folder.write("policy.yaml", policyWith(tokens, delegates));
  const policy = started.use(await openPolicy(file, { everyMs: 20 }));
  const bus = started.use(createMemoryBus());
  const { url, apiKey, model } = started.use(await startModelServer([]));
  const config = loadConfig(bridgeSchema, { env: {}, overrides: { mcpConfig, registration } });
  const bridge = started.use(await startMcpBridge(bus, config, { env: process.env, policy }));
  const gateway = started.use(
    await startGateway(bus, loadConfig(gatewaySchema, { env: {}, overrides: { port: 0 } }), {
      ...(gatewayHasPolicy ? { policy } : {}),
    }),
  );
  const agent = started.use(
    await createAgent({ bus, policy, model: createModel({ url, apiKey, model }) })
      .use(mcpToolProxy())
      .start(),
  );
  await bridge.settled(20_000);
  const headers = (who: string) => ({
    "content-type": "application/json",
    ...(who === "" ? {} : { authorization: `Bearer token-of-the-${who}` }),
  });
  const post = async (who: string, path: string, body: object) => {
    const response = await fetch(`${gateway.url}/v1/${path}`, {
      method: "POST",
      headers: headers(who),
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  };
  const parts = started.move();
  return {
    bridge,
    agent,
    /** Lists the tools that a caller gets at the gateway, and by the agent. */
    async offered(who: string) {
      const { tools } = (await (await fetch(`${gateway.url}/v1/tools`, { headers: headers(who) })).json()) as {
        tools: { name: string }[];
      };
      const byAgent = agent.caller.toolsOf(who || "gateway");
      for (const all of [tools, byAgent]) expect(all.map(({ name }) => name)).toContain("mcp_list_services");
      return { gateway: registering(tools), agent: registering(byAgent) };
    },
    invoke: (who: string, tool: string, args: object) => post(who, `tools/${tool}/invoke`, args),
    changePolicy: (text: string) => folder.write("policy.yaml", text),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test.each([
  { registration: "on", tokens: true, who: "owner", offered: BOTH },
  { registration: "on", tokens: true, who: "other", offered: [] }, // a wildcard does not name them
  { registration: "off", tokens: true, who: "owner", offered: [] },
  { registration: "on", tokens: false, who: "", offered: [] }, // the open gateway itself, though the policy names them for it
  { registration: "on", tokens: false, who: "", offered: [], delegates: "agent", gatewayHasPolicy: false },
] as const)(
  "registration $registration, tokens $tokens: the caller '$who' is offered $offered",
  { timeout: 60_000 },
  async (row) => {
    await using system = await start(row.registration, row.tokens, row);
    const hasHeard = async () => (await system.offered(row.who)) && registering(system.agent.caller.toolsOf("owner"));
    await expect.poll(() => hasHeard().catch(() => undefined), WAIT).toEqual(row.registration === "on" ? BOTH : []);
    await expect
      .poll(() => system.offered(row.who).catch(() => undefined), WAIT)
      .toEqual({ gateway: row.offered, agent: row.offered });
    if (row.offered.length > 0) return;
    for (const name of BOTH) {
      const { text } = await system.invoke(row.who, name, { server_name: "weather" });
      expect(text).toMatch(/"code":"(denied|unavailable)"/);
      await expect(
        system.agent.caller.call(name, { server_name: "weather" }, { onBehalfOf: row.who || "gateway" }),
      ).rejects.toThrow();
    }
    expect(await system.bridge.approvals.registered()).toEqual([]);
  },
);

test("a server belongs to the effective caller, at whichever door it asks, and what is not there is not removed", {
  timeout: 60_000,
}, async () => {
  await using system = await start("on", true);
  const { bridge, agent, invoke, offered, changePolicy } = system;
  await expect.poll(() => offered("owner").catch(() => undefined), WAIT).toEqual({ gateway: BOTH, agent: BOTH });
  expect(await invoke("owner", "mcp_register_server", { server_name: "weather", name: "news" })).toMatchObject({
    status: 400,
  });
  expect(await invoke("owner", "mcp_register_server", {})).toMatchObject({
    status: 400,
    text: expect.stringContaining("server_name: is required and missing"),
  });
  const program = { name: "own", command: "/usr/bin/weather-mcp", arguments: ["-v"] };
  expect(await invoke("owner", "mcp_register_server", program)).toMatchObject({
    status: 403,
    text: expect.stringContaining("programs cannot be asked for"),
  });
  expect(await invoke("owner", "mcp_register_server", { server_name: "weather" })).toMatchObject({ status: 200 });
  expect(await bridge.approvals.registered()).toMatchObject([{ server: "weather", agent: "owner" }]);

  const unregister = () =>
    agent.caller.call("mcp_unregister_server", { server_name: "weather" }, { onBehalfOf: "owner" });
  expect(await unregister()).toMatchObject({ content: expect.stringContaining("removed") });
  await expect(unregister()).rejects.toMatchObject({
    code: "tool_not_found",
    message: expect.stringContaining("Nothing was removed"),
  });

  changePolicy(policyWith(false)); // the doors are open now
  await expect.poll(() => offered("").catch(() => undefined), WAIT).toEqual({ gateway: [], agent: [] });
  expect(await invoke("", "mcp_register_server", { server_name: "weather" })).toMatchObject({
    status: 403,
  });
  expect(await bridge.approvals.registered()).toEqual([]);
});
