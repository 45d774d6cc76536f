import { createHash, generateKeyPairSync } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import { type GatewayConfig, configSchema as gatewaySchema, startGateway } from "@rockbot/gateway";
import { configSchema as bridgeSchema, type McpBridgeConfig, startMcpBridge } from "@rockbot/mcp-bridge";
import { loadConfig } from "@rockbot/process/config";
import type { AuditLine } from "@rockbot/records/audit";
import { serviceNamed } from "@rockbot/services";
import { faultServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { createCommander } from "@rockbot/tools/commands";
import { createMemoryTrustStore, type Waiting } from "@rockbot/trust";
import { expect, test } from "vitest";
import { verifiedHost } from "./verified-broker.ts";
import { connect } from "./verified-system.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const hashOf = (token: string) => `sha256:${createHash("sha256").update(token).digest("hex")}`;
const POLICY = `
identity: verified
everyone: { allow: ["*"] }
callers: { researcher: {} }
services:
  mcp-bridge: { topic: tool.invoke.mcp, tools: ["peer__*"] }
  rest-tools: { topic: tool.invoke.rest, tools: ["rest__*"] }
  a2a: { topic: tool.invoke.a2a, tools: [list_known_agents, get_agent_details, invoke_agent] }
delegates: [gateway]
operators:
  - { name: ada, tokens: [{ hash: "${hashOf("of-ada")}" }], may: [servers] }
  - { name: eve, tokens: [{ hash: "${hashOf("of-eve")}" }], may: [read, letters] }
`;
const WAIT = { timeout: 20_000 };
const PATH = "/operator/mcp/approvals";

/** Bridges that share what is approved, a gateway with or without a key, and a caller, on a broker of RabbitMQ. */
async function startSystem({ hasKey = true, replicas = 1 } = {}) {
  await using started = new AsyncDisposableStack();
  const broker = started.use(await verifiedHost(POLICY));
  const { policy } = broker;
  const folder = started.use(temporaryFolder());
  const peer = { ...faultServer(), toolsAllowed: ["echo", "redefine"] };
  const mcpConfig = folder.write("mcp.json", { mcpServers: { peer } });
  const trustStore = started.use(createMemoryTrustStore());
  const lines: AuditLine[] = [];
  const audit = { isWriting: true, write: async (line: AuditLine) => void lines.push(line), ...nothing };
  for (let replica = 0; replica < replicas; replica++) {
    const bus = started.use(await connect(broker, "mcp-bridge"));
    const config = loadConfig<McpBridgeConfig>(bridgeSchema, { env: {}, overrides: { mcpConfig } });
    const options = { env: process.env, policy, audit, trustStore, operatorKey: publicKey };
    await started.use(await startMcpBridge(bus, config, options)).settled(20_000);
  }
  const parts = { env: {}, log: silentLogger, policy, audit, trustStore, operatorKey: publicKey };
  for (const service of ["rest-tools", "a2a"] as const) {
    const { loader, start, topic } = serviceNamed(service);
    const config = (await loader())({ env: {} }) as never;
    const bus = started.use(await connect(broker, service));
    const { signal } = new AbortController();
    started.use(await start({ ...parts, bus, config, service, topic, signal }));
  }
  const config = loadConfig<GatewayConfig>(gatewaySchema, { env: {}, overrides: { port: 0, agentName: "gateway" } });
  const gatewayBus = started.use(await connect(broker, "gateway"));
  const gateway = started.use(
    await startGateway(gatewayBus, config, { policy, ...(hasKey ? { commandKey: privateKey } : {}) }),
  );
  const researcher = started.use(await connect(broker, "researcher"));
  const caller = started.use(await createToolCaller(researcher, { agent: "researcher", policy }));
  await expect.poll(async () => (await caller.discovered()) && caller.tools.get("peer__echo"), WAIT).toBeDefined();
  const all = started.move();
  return {
    caller,
    trustStore,
    broker,
    /** What services wrote of commands. */
    deeds: () => lines.filter((line) => "event" in line && line.event === "operator"),
    async ask(path: string, body?: object, token = "of-ada") {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
      const response = await fetch(`${gateway.url}${path}`, init);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const nothing = { [Symbol.asyncDispose]: async () => {} };

test("operators approve and reject changed tools of a bridge elsewhere by signed commands, each with a line of the audit log", {
  timeout: 120_000,
}, async () => {
  await using system = await startSystem();
  const { caller, ask, deeds } = system;
  const waiting = async () => (await ask(PATH)).body as unknown as Waiting & { readonly problems: readonly string[] };
  const change = (description: string) => caller.call("peer__redefine", { tool: "echo", description });

  await change("The fault echo!");
  await expect.poll(async () => (await waiting()).tools.length, WAIT).toBe(1);
  const shown = await waiting();
  expect(shown).toMatchObject({
    tools: [
      {
        server: "peer",
        tool: "echo",
        reason: "changed",
        before: { description: "The fault echo." },
        definition: { description: "The fault echo!" },
      },
    ],
    servers: [],
    sources: [{ kind: "mcp", server: "peer", state: "ready" }],
    problems: [],
  });
  const [{ hash } = { hash: "" }] = shown.tools;
  const tools = [{ server: "peer", tool: "echo", hash }];

  expect(await ask(PATH, { tools }, "of-eve")).toMatchObject({ status: 403 });
  expect(await ask(PATH, { tools: [{ server: "peer" }] })).toMatchObject({ status: 400 });
  expect(await ask(PATH, { tools: [{ server: "peer", tool: "echo", hash: "another" }] })).toMatchObject({
    body: { approved: [], stale: ["peer: echo"] },
  });
  const reject = { tools, note: "Ask its maker first." };
  expect(await ask("/operator/mcp/rejections", reject)).toMatchObject({ body: { done: ["peer: echo"], stale: [] } });
  expect(await ask("/operator/mcp/rejections")).toMatchObject({
    body: { tools: [{ tool: "echo", rejectedBy: "ada", note: "Ask its maker first." }] },
  });
  expect((await waiting()).tools).toEqual([]);
  const approve = { tools: [{ ...tools[0], rejectedBy: "ada" }], servers: [], note: "They answered." };
  expect(await ask(PATH, approve)).toMatchObject({ body: { approved: ["peer: echo"], stale: [] } });
  await expect.poll(() => caller.tools.get("peer__echo"), WAIT).toBeDefined();

  const decided = {
    event: "operator",
    service: "mcp-bridge",
    operator: "ada",
    of: `peer: echo ${hash}`,
    outcome: "ok",
  };
  for (const [action, note] of [
    ["tools.reject", "Ask its maker first."],
    ["tools.approve", "They answered."],
  ])
    expect(deeds().filter((line) => "note" in line && line.note === note)).toEqual([{ ...decided, action, note }]);
});

test("each service decides about its own: operations of documents, and cards of agents", {
  timeout: 120_000,
}, async () => {
  await using system = await startSystem();
  const { ask, deeds, trustStore } = system;
  const held = { name: "part", hash: "h1", shape: "s1", reason: "new", at: "2026-01-01T00:00:00Z" };
  for (const server of ["rest:shop", "a2a:writer"])
    await trustStore.write(`pins/${server}`, { server, pins: [], held: [held] }, undefined);
  const tools = ["a2a:writer", "rest:shop"].map((server) => ({ server, tool: "part", hash: "h1" }));
  const waiting = await ask(PATH);
  expect(waiting.body["tools"]).toMatchObject([{ server: "a2a:writer" }, { server: "rest:shop" }]);
  const { body } = await ask(PATH, { tools });
  expect(body).toEqual({ approved: ["a2a:writer: part", "rest:shop: part"], stale: [], problems: [] });
  const approved = deeds().filter((line) => "action" in line && line.action === "tools.approve");
  expect(approved.map((line) => "of" in line && [line.service, line.operator, line.of]).sort()).toEqual([
    ["a2a", "ada", "a2a:writer: part h1"],
    ["rest-tools", "ada", "rest:shop: part h1"],
  ]);
});

test("what one replica has done is done, though the others find it decided", { timeout: 120_000 }, async () => {
  await using system = await startSystem({ replicas: 2 });
  const { caller, ask, deeds } = system;
  await caller.call("peer__redefine", { tool: "echo", description: "The fault echo!" });
  const waiting = async () => (await ask(PATH)).body as unknown as Waiting;
  await expect.poll(async () => (await waiting()).tools.length, WAIT).toBe(1); // both replicas tell of it
  const { tools } = await waiting();
  const decided = await ask("/operator/mcp/rejections", { tools, servers: [] });
  expect(decided.body).toEqual({ done: ["peer: echo"], stale: [], problems: [] });
  const rejections = () => deeds().filter((line) => "action" in line && line.action === "tools.reject");
  await expect.poll(rejections, WAIT).toHaveLength(2); // the answer is there once one replica has done it
});

test("without the gateway's key nothing can be decided, and a stranger's command decides nothing", {
  timeout: 120_000,
}, async () => {
  await using system = await startSystem({ hasKey: false });
  const { caller, broker, ask, deeds } = system;
  expect(await ask(PATH)).toMatchObject({ status: 503, body: { message: expect.stringContaining("OPERATOR_KEY") } });
  await caller.call("peer__redefine", { tool: "echo", description: "The fault echo!" });
  await expect.poll(() => caller.tools.get("peer__echo"), WAIT).toBeUndefined();
  await using bus = await connect(broker, "gateway");
  const key = generateKeyPairSync("ed25519").privateKey;
  await using stranger = createCommander(bus, { key, source: "gateway", policy: broker.policy });
  const body = { tools: [{ server: "peer", tool: "echo", hash: "any" }], servers: [] };
  for (const kind of ["tools.waiting", "tools.approve", "tools.reject"]) {
    const command = { kind, service: "mcp-bridge", operator: "ada", body };
    const [answer] = await stranger.send(command, { instances: 1, timeoutMs: 10_000 });
    expect(answer).toMatchObject({ code: "denied", message: expect.stringContaining("signature") });
  }
  expect(deeds()).toEqual([]);
});
