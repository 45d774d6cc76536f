import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bus, createMemoryBus, createRequester } from "@rockbot/bus";
import { createEnvelope, messages, newId } from "@rockbot/contracts";
import { offerMcpTools } from "@rockbot/mcp/for-agents";
import { openPolicy } from "@rockbot/policy";
import type { AuditRecord } from "@rockbot/records/audit";
import { canRunAs, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { createMemoryTrustStore, Registrations, type RequestedServer } from "@rockbot/trust";
import { expect, onTestFinished, test } from "vitest";
import type { McpBridgeConfig } from "../generated/config.ts";
import { announcedTools, faulty, startTestBridge, type TestBridgeOptions } from "../test-bridge.ts";
import { hostileRegistrations } from "./test-hostile-registrations.ts";

/** Programs that agents ask for run as this one. */
const uid = process.getuid?.() || 12_345;
const open: Partial<McpBridgeConfig> = {
  registration: "on",
  registrationHosts: ["mcp.example.com", "*.tools.example.org"],
  registrationMaxPerAgent: 2,
  registrationUid: uid,
};
const catalogue = {
  weather: { ...faulty(), toolsAllowed: ["echo"] },
  news: { ...faulty(), toolsAllowed: ["echo"] },
  maps: { ...faulty(), toolsAllowed: ["echo"] },
  gone: faulty("exit-at-start"),
};

/** A policy that allows these callers to register servers, and to ask for as many as they like. */
async function policyFor(...callers: readonly string[]) {
  return policyOf(
    `callers: { ${callers.map((name) => `${name}: { allow: ["*", mcp_register_server, mcp_unregister_server], limits: { messages: { manage: { perSecond: 1000, bytesPerSecond: 10000000 } } } }`).join(", ")} }\neveryone: { afterUntrusted: { effects: deny } }`,
  );
}

async function policyOf(yaml: string) {
  const folder = temporaryFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const file = join(folder.path, "policy.yaml");
  writeFileSync(file, yaml);
  return openPolicy(file);
}

async function startOpenBridge(options: Partial<TestBridgeOptions> = {}) {
  const policy = await policyFor("rockbot", "other", "tester");
  const tested = await startTestBridge(() => ({ files: { ...faulty(), toolsAllowed: ["echo"] } }), {
    policy,
    config: open,
    ...options,
  });
  tested.folder.write("mcp.json", { mcpServers: { files: { ...faulty(), toolsAllowed: ["echo"] } }, catalogue });
  const ask = manageClient(tested.bus);
  await expect
    .poll(
      async () => (await ask("rockbot", "McpRegisterServerRequest", { serverName: "nothing", type: "http" })).error,
      { timeout: 10_000 },
    )
    .toContain("by name alone: weather, news, maps, gone");
  return {
    ...tested,
    ask,
    [Symbol.asyncDispose]: async () => {
      await tested[Symbol.asyncDispose]();
      await policy[Symbol.asyncDispose]();
    },
  };
}

interface Answer {
  readonly success: boolean;
  readonly summary?: string | null;
  readonly error: string | null;
  readonly code?: string;
}

/** Asks on `mcp.manage` knowing the wire contract and nothing else; a text is sent as it is. */
function manageClient(bus: Bus) {
  const requesters = new Map<string, ReturnType<typeof createRequester>>();
  return async (
    agent: string,
    name: "McpRegisterServerRequest" | "McpUnregisterServerRequest",
    value: object | string,
  ): Promise<Answer> => {
    const requester =
      requesters.get(agent) ??
      createRequester(bus, {
        replyTo: `mcp.manage.response.${agent}`,
        subscription: { name: `managing.${agent}`, kind: "copy" },
      });
    requesters.set(agent, requester);
    const body = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
    const request = createEnvelope({
      topic: "mcp.manage",
      type: messages[name].type,
      source: agent,
      correlationId: newId(),
      body,
    });
    const reply = await requester.request(request, { timeoutMs: 30_000 });
    return JSON.parse(Buffer.from(reply.body).toString()) as Answer;
  };
}

/** Counts the processes that this one starts, until disposed. */
function countProcesses(): { count: number } & Disposable {
  const counted = { count: 0 };
  const onStart = (): void => void counted.count++;
  subscribe("child_process", onStart);
  return Object.assign(counted, { [Symbol.dispose]: () => unsubscribe("child_process", onStart) });
}

test("300 hostile registrations start no process, and each is answered as denied or as something that cannot be read", {
  timeout: 120_000,
}, async () => {
  const records: AuditRecord[] = [];
  const audit = {
    isWriting: true,
    write: async (record: AuditRecord) => void records.push(record),
    async [Symbol.asyncDispose]() {},
  };
  await using bridge = await startOpenBridge({ audit });
  records.length = 0;
  using processes = countProcesses();
  expect(hostileRegistrations.length).toBeGreaterThanOrEqual(300);
  const wrong: unknown[] = [];
  for (const body of hostileRegistrations) {
    const answer = await bridge.ask("rockbot", "McpRegisterServerRequest", body);
    if (
      answer.success !== false ||
      !["denied", "invalid_arguments"].includes(answer.code ?? "") ||
      !answer.error?.startsWith(`${answer.code}: `)
    )
      wrong.push([body, answer]);
  }
  expect(wrong).toEqual([]);
  expect(processes.count).toBe(0);
  expect(bridge.bridge.servers.map(({ name }) => name)).toEqual(["files"]);
  expect(records).toHaveLength(hostileRegistrations.length);
  expect(new Set(records.map(({ tool, caller, outcome }) => `${caller} ${tool} ${outcome}`))).toEqual(
    new Set(["rockbot mcp_register_server denied", "rockbot mcp_register_server invalid_arguments"]),
  );
  expect((await bridge.bridge.approvals.waiting()).servers.length).toBeLessThanOrEqual(5); // the operator's list is not flooded

  expect(
    await bridge.ask("rockbot", "McpRegisterServerRequest", { serverName: "weather", type: "stdio" }),
  ).toMatchObject({ success: true });
  expect(processes.count).toBeGreaterThan(0); // so they would have been seen
});

test("an agent registers an entry of the catalogue by its name, and it alone unregisters it", {
  timeout: 60_000,
}, async () => {
  await using bridge = await startOpenBridge();
  const { ask, caller } = bridge;
  expect(await ask("rockbot", "McpRegisterServerRequest", { serverName: "weather", type: "stdio" })).toEqual({
    serverName: "weather",
    success: true,
    summary: "1 tool(s) available.",
    error: null,
  });
  await expect.poll(() => announcedTools(caller), { timeout: 10_000 }).toEqual(["files__echo", "weather__echo"]);
  expect(await caller.call("weather__echo", { n: 1 })).toMatchObject({
    content: '{"n":1}',
    trust: { level: "untrusted", origin: "mcp:weather" },
  });
  expect(await ask("rockbot", "McpRegisterServerRequest", { serverName: "weather", type: "stdio" })).toMatchObject({
    success: true,
  }); // the same once more
  const refused = { success: false, code: "denied" };
  expect(await ask("other", "McpRegisterServerRequest", { serverName: "weather", type: "stdio" })).toMatchObject(
    refused,
  );
  expect(await ask("other", "McpUnregisterServerRequest", { serverName: "weather" })).toMatchObject({
    ...refused,
    error: expect.stringContaining("not one that you have registered"),
  });
  expect(await ask("rockbot", "McpUnregisterServerRequest", { serverName: "files" })).toMatchObject(refused);
  expect(await ask("rockbot", "McpUnregisterServerRequest", { serverName: "WEATHER" })).toEqual({
    serverName: "WEATHER",
    success: true,
    error: null,
  });
  await expect.poll(() => announcedTools(caller), { timeout: 10_000 }).toEqual(["files__echo"]);
});

test("an agent has so many servers and no more; one that cannot be connected is not kept", {
  timeout: 60_000,
}, async () => {
  await using bridge = await startOpenBridge();
  const register = (serverName: string) =>
    bridge.ask("rockbot", "McpRegisterServerRequest", { serverName, type: "stdio" });
  expect(await register("gone")).toMatchObject({
    success: false,
    code: "unavailable",
    error: expect.not.stringContaining("canary"),
  });
  expect(bridge.bridge.servers.map(({ name }) => name)).toEqual(["files"]);
  for (const name of ["weather", "news"]) expect(await register(name)).toMatchObject({ success: true });
  expect(await register("maps")).toMatchObject({
    success: false,
    code: "denied",
    error: expect.stringContaining("as many as you may, 2"),
  });
});

// Where tests run as root, another user must be able to read the program.
test.runIf(canRunAs(uid))(
  "whatever else is asked for waits for an operator, who sees it exactly, and what was approved is had once",
  {
    timeout: 60_000,
  },
  async () => {
    await using bridge = await startOpenBridge();
    const { approvals } = bridge.bridge;
    const [program = "", ...args] = [faulty().command, ...faulty().args];
    const request = { serverName: "own-weather", type: "stdio", command: program, args };
    const register = (agent = "rockbot", value: object = request) =>
      bridge.ask(agent, "McpRegisterServerRequest", value);
    expect(await register()).toMatchObject({
      success: false,
      code: "denied",
      error: expect.stringMatching(/^(?!.*rockbot mcp).*needs an operator's approval/),
    });
    const { servers } = await approvals.waiting();
    expect(servers).toMatchObject([
      {
        server: "own-weather",
        agent: "rockbot",
        lines: [`command: "${program}"`, `arguments: ${JSON.stringify(args)}`, expect.stringContaining("environment")],
      },
    ]);
    expect(await approvals.approve({ tools: [], servers }, "ada")).toEqual({ approved: ["own-weather"], stale: [] });
    expect(await register("other")).toMatchObject({ code: "denied" });
    expect(await register("rockbot", { ...request, args: [...args, "heedless"] })).toMatchObject({ code: "denied" });
    expect(await register()).toMatchObject({ success: true });
    expect(JSON.parse((await bridge.caller.call("own-weather__whoami", {})).content ?? "")).toMatchObject({
      uid,
      cwd: "/",
    });
    await bridge.ask("rockbot", "McpUnregisterServerRequest", { serverName: "own-weather" });
    expect(await register()).toMatchObject({ code: "denied" });
  },
);

test("a program cannot be asked for, nor waits for an operator, where no user is set that it would run as; one that was approved before is not started", async () => {
  const { registrationUid: _, ...withoutUser } = open;
  await using trustStore = createMemoryTrustStore();
  const request: RequestedServer = { name: "before", address: { kind: "command", ...faulty(), env: {} } };
  await new Registrations(trustStore).register(request, { agent: "rockbot", by: "ada", maxPerAgent: 5 });
  await using bridge = await startOpenBridge({ trustStore, config: withoutUser });
  expect(
    await bridge.ask("rockbot", "McpRegisterServerRequest", {
      serverName: "own-weather",
      type: "stdio",
      command: "/usr/bin/weather-mcp",
    }),
  ).toMatchObject({
    code: "denied",
    error: expect.stringContaining("no user is set"),
  });
  expect((await bridge.bridge.approvals.waiting()).servers).toEqual([]);
  expect(bridge.bridge.servers.map(({ name }) => name)).toEqual(["files"]);
});

test("what an operator rejects is not asked for again, and what one takes away goes from all bridges and is not registered again", {
  timeout: 60_000,
}, async () => {
  await using trustStore = createMemoryTrustStore();
  await using one = await startOpenBridge({ trustStore });
  await using two = await startOpenBridge({ trustStore });
  const { approvals } = one.bridge;
  const program = { serverName: "own-weather", type: "stdio", command: "/usr/bin/weather-mcp" };
  await one.ask("rockbot", "McpRegisterServerRequest", program);
  expect(await approvals.reject(await approvals.waiting(), "ada")).toEqual({ done: ["own-weather"], stale: [] });
  const refused = { success: false, code: "denied", error: expect.stringContaining("an operator has refused") };
  expect(await two.ask("rockbot", "McpRegisterServerRequest", program)).toMatchObject(refused);
  expect((await approvals.waiting()).servers).toEqual([]);
  expect(await approvals.approve({ tools: [], servers: (await approvals.rejected()).servers }, "bob")).toEqual({
    approved: ["own-weather"],
    stale: [],
  });
  expect(await two.ask("rockbot", "McpRegisterServerRequest", program)).not.toMatchObject(refused); // it is tried now

  const weather = { serverName: "weather", type: "stdio" };
  expect(await one.ask("rockbot", "McpRegisterServerRequest", weather)).toMatchObject({ success: true });
  await expect.poll(() => announcedTools(two.caller), { timeout: 15_000 }).toContain("weather__echo");
  const registered = await approvals.registered();
  expect(registered).toMatchObject([{ server: "weather", agent: "rockbot", by: "the catalogue" }]);
  expect(await approvals.remove(registered, "ada")).toEqual({ done: ["weather"], stale: [] });
  for (const { caller } of [one, two])
    await expect.poll(() => announcedTools(caller), { timeout: 15_000 }).not.toContain("weather__echo");
  expect(await one.ask("rockbot", "McpRegisterServerRequest", weather)).toMatchObject(refused);
  expect(await one.ask("other", "McpRegisterServerRequest", weather)).toMatchObject({ success: true }); // another agent is not meant
});

test("registration is off unless the operator has opened it, and whom the policy does not name may not register", async () => {
  await using policy = await policyFor("rockbot");
  await using closed = await startTestBridge(() => ({ files: faulty() }), { policy });
  expect(
    await manageClient(closed.bus)("rockbot", "McpRegisterServerRequest", { serverName: "weather", type: "stdio" }),
  ).toMatchObject({
    code: "denied",
    error: expect.stringContaining("while the bridge runs"),
  });
  await using opened = await startTestBridge(() => ({ files: faulty() }), { policy, config: open });
  const ask = manageClient(opened.bus);
  expect(await ask("somebody", "McpRegisterServerRequest", { serverName: "weather", type: "stdio" })).toMatchObject({
    code: "denied",
    error: expect.stringContaining('"somebody" may not use'),
  });
  expect(await ask("rockbot", "McpRegisterServerRequest", { serverName: "weather", type: "stdio" })).toMatchObject({
    code: "denied",
    error: expect.stringContaining("catalogue"),
  });
});

test("the policy's rules about arguments and rates hold for requests as for any tool", {
  timeout: 60_000,
}, async () => {
  const only = `arguments: { properties: { server_name: { enum: [weather] }, url: { pattern: "^https://ok[.]example/" } } }`;
  await using policy = await policyOf(`callers:
  rockbot: { allow: [mcp_register_server], rules: [{ tools: [mcp_register_server], ${only} }] }
  often: { allow: [mcp_unregister_server], rules: [{ tools: [mcp_unregister_server], rate: { calls: 1, perSeconds: 3600 } }] }`);
  await using bridge = await startTestBridge(() => ({}), { policy, config: open, beside: { catalogue } });
  const ask = manageClient(bridge.bus);
  const register = (request: object) => ask("rockbot", "McpRegisterServerRequest", { type: "auto", ...request });
  const refused = { success: false, code: "denied" };
  const outside = { ...refused, error: expect.stringContaining("only with arguments that the policy allows: url:") };
  expect(await register({ serverName: "weather", url: "https://mcp.example.com/mcp" })).toMatchObject(outside);
  expect(await register({ serverName: "news" })).toMatchObject({
    ...refused,
    error: expect.stringContaining("server_name:"),
  });
  expect(await register({ serverName: "weather", url: null })).toMatchObject({ success: true });
  const unregister = () => ask("often", "McpUnregisterServerRequest", { serverName: "weather" });
  expect([await unregister(), await unregister()]).toMatchObject([
    refused,
    { code: "rate_limited", error: expect.stringContaining("1 calls in 3600 s") },
  ]);
});

test("a request that people would have to approve is refused, since it has no record that could wait", async () => {
  await using policy = await policyOf(`callers: { rockbot: { allow: [mcp_register_server] } }
operators: [{ name: ann, tokens: [{ hash: "sha256:${"a".repeat(64)}" }], may: [decide] }]
approve: [{ tools: [mcp_register_server], by: [ann] }]`);
  await using bridge = await startTestBridge(() => ({}), { policy, config: open, beside: { catalogue } });
  const request = { serverName: "weather", type: "auto" };
  expect(await manageClient(bridge.bus)("rockbot", "McpRegisterServerRequest", request)).toMatchObject({
    code: "denied",
    error: expect.stringContaining("has to wait for a person"),
  });
});

test("a server that one bridge has registered is connected by the other, also by one that starts later, and goes from all", {
  timeout: 60_000,
}, async () => {
  await using trustStore = createMemoryTrustStore();
  await using one = await startOpenBridge({ trustStore });
  await using two = await startOpenBridge({ trustStore });
  expect(await one.ask("rockbot", "McpRegisterServerRequest", { serverName: "weather", type: "stdio" })).toMatchObject({
    success: true,
  });
  await expect.poll(() => announcedTools(two.caller), { timeout: 15_000 }).toContain("weather__echo");
  await using three = await startOpenBridge({ trustStore });
  await expect.poll(() => announcedTools(three.caller), { timeout: 15_000 }).toContain("weather__echo");
  expect(await two.ask("rockbot", "McpUnregisterServerRequest", { serverName: "weather" })).toMatchObject({
    success: true,
  });
  for (const { caller } of [one, two, three])
    await expect.poll(() => announcedTools(caller), { timeout: 15_000 }).not.toContain("weather__echo");
});

test("a server on a host that the operator has taken off the list is not connected any more", async () => {
  await using trustStore = createMemoryTrustStore();
  const request: RequestedServer = {
    name: "away",
    address: { kind: "url", url: "https://mcp.example.com/mcp", transport: "auto" },
  };
  await new Registrations(trustStore).register(request, { agent: "rockbot", by: "an allowed host", maxPerAgent: 5 });
  const namesWith = async (registrationHosts: string[]): Promise<string[]> => {
    await using tested = await startTestBridge(() => ({ files: { ...faulty(), toolsAllowed: ["echo"] } }), {
      trustStore,
      config: { ...open, registrationHosts },
    });
    await expect.poll(() => announcedTools(tested.caller), { timeout: 10_000 }).toEqual(["files__echo"]);
    return tested.bridge.servers.map(({ name }) => name);
  };
  expect(await namesWith(["mcp.example.com"])).toEqual(["files", "away"]);
  expect(await namesWith(["other.example.com"])).toEqual(["files"]);
});

test("an agent has the tools that register and unregister where the bridge takes such requests, and not elsewhere", {
  timeout: 60_000,
}, async () => {
  await using closed = await startTestBridge(() => ({ files: faulty() }));
  await using _closedTools = await offerMcpTools(closed.bus, closed.caller, { agent: "tester" });
  await expect.poll(() => closed.caller.tools.getExecutor("mcp_list_services")).toBeDefined();
  expect(closed.caller.tools.getExecutor("mcp_register_server")).toBeUndefined();

  await using bus = createMemoryBus();
  await using opened = await startOpenBridge({ bus });
  await using caller = await createToolCaller(bus, { agent: "tester" });
  await using _tools = await offerMcpTools(bus, caller, { agent: "tester" });
  await expect.poll(() => caller.tools.get("mcp_register_server")).toMatchObject({ dangerous: true });
  expect(await caller.call("mcp_register_server", { name: "weather" })).toMatchObject({
    content: 'The MCP server "weather" is registered successfully: 1 tool(s) available.',
  });
  await expect
    .poll(async () => (await caller.call("mcp_list_services", {})).content, { timeout: 10_000 })
    .toContain("weather");
  for (const tool of ["mcp_register_server", "mcp_unregister_server"]) {
    const args = tool === "mcp_register_server" ? { name: "news" } : { server_name: "weather" };
    await expect(caller.call(tool, args, { hasReadUntrusted: true })).rejects.toMatchObject({
      code: "denied",
      message: expect.stringContaining("untrusted content"),
    });
  }
  await expect(
    caller.call("mcp_register_server", { name: "elsewhere", url: "https://evil.example/mcp" }),
  ).rejects.toMatchObject({
    code: "denied",
    message: expect.stringMatching(/^Cannot register/),
  });
  await expect(caller.call("mcp_register_server", { name: "Elsewhere" })).rejects.toMatchObject({
    code: "invalid_arguments",
  });
  expect((await caller.call("mcp_unregister_server", { server_name: "Weather" })).content).toContain(
    "removed successfully",
  );
  await expect(caller.call("mcp_unregister_server", { server_name: "files" })).rejects.toMatchObject({
    code: "denied",
  });
  expect(opened.bridge.servers.map(({ name }) => name)).toEqual(["files"]);
});
