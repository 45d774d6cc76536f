import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRequester } from "@rockbot/bus";
import {
  createEnvelope,
  decodeMessage,
  encodeMessage,
  Header,
  type McpServersIndexed,
  messages,
  newId,
  type ToolError,
} from "@rockbot/contracts";
import { offerMcpTools } from "@rockbot/mcp/for-agents";
import { createPolicy, holdPolicy, openPolicy, readPolicy } from "@rockbot/policy";
import { createMemoryFileStore } from "@rockbot/records/files";
import { httpFaults, startFaultHttpServer, startRawHttpServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { announcedTools, faulty, rawCaller, realServers, startTestBridge, variable } from "./test-bridge.ts";

test("images and binary resources of MCP servers are untrusted files of the caller, too", async () => {
  await using store = createMemoryFileStore();
  await using tested = await startTestBridge(() => ({ everything: realServers.everything }), { files: store.files });
  const { caller } = tested;
  await expect.poll(() => announcedTools(caller)).toContain("everything__get-tiny-image");

  const { structured } = await caller.call("everything__get-tiny-image", {});
  expect(structured).toMatchObject({
    $content: [{ type: "image", data: expect.any(String) }],
    $files: [{ handle: expect.stringMatching(/^file_/), name: "image-1.png", type: "image/png", isUntrusted: true }],
  });
  const [listed] = await store.files.list("tester");
  const { $content, $files } = structured as {
    readonly $content: readonly [{ readonly data: string }];
    readonly $files: readonly [{ readonly handle: string; readonly size: number }];
  };
  expect(listed).toMatchObject({ ...$files[0], size: Buffer.from($content[0].data, "base64").length });

  const answer = await caller.call("everything__get-resource-reference", { resourceType: "Blob", resourceId: 1 });
  expect(answer.structured).toMatchObject({ $files: [{ isUntrusted: true }] });
});

test("servers from npm are listed and called over the bus, with progress and each kind of content", async () => {
  await using tested = await startTestBridge((folder) => ({
    everything: realServers.everything,
    memory: realServers.memory(join(folder, "memory.jsonl")),
    files: realServers.filesystem(folder),
    thinking: realServers.thinking,
  }));
  const { bridge, caller, folder } = tested;
  expect(bridge.servers.map(({ name, state }) => [name, state])).toEqual([
    ["everything", "ready"],
    ["memory", "ready"],
    ["files", "ready"],
    ["thinking", "ready"],
  ]);
  const offered = bridge.servers.reduce((sum, { tools }) => sum + tools, 0);
  await expect.poll(() => announcedTools(caller).length).toBe(offered);

  expect(await caller.call("everything__echo", { message: "over the bus" })).toEqual({
    toolCallId: expect.any(String),
    toolName: "everything__echo",
    content: "Echo: over the bus",
    isError: false,
    trust: { level: "untrusted", origin: "mcp:everything" },
  });
  const updates: object[] = [];
  await caller.call(
    "everything__trigger-long-running-operation",
    { duration: 1, steps: 3 },
    { onProgress: (update) => updates.push(update) },
  );
  expect(updates).toContainEqual(expect.objectContaining({ progress: 1, total: 3 }));
  expect((await caller.call("everything__get-tiny-image", {})).structured).toMatchObject({
    $content: [{ type: "image" }],
  });

  writeFileSync(join(folder.path, "note.txt"), "from a file");
  expect(await caller.call("files__read_text_file", { path: join(folder.path, "note.txt") })).toMatchObject({
    content: "from a file",
  });
  await caller.call("memory__create_entities", {
    entities: [{ name: "Ada", entityType: "person", observations: ["wrote programs"] }],
  });
  expect((await caller.call("memory__read_graph", {})).content).toContain("wrote programs");
  expect(
    await caller.call("thinking__sequentialthinking", {
      thought: "first",
      nextThoughtNeeded: false,
      thoughtNumber: 1,
      totalThoughts: 1,
    }),
  ).toMatchObject({
    isError: false,
    structured: { thoughtNumber: 1 },
  });
  const guides = await caller.getGuides();
  expect(guides.find(({ name }) => name === "mcp-tool-guide")?.document).not.toContain("says of itself\n");
  expect(guides.find(({ name }) => name === "mcp-tool-guide-everything")?.document).toContain(
    '## What the server "everything" says of itself',
  );
});

test("a request names its server by a header, or the server is found by the tool's name; case does not matter", async () => {
  await using peer = await startFaultHttpServer();
  await using tested = await startTestBridge(() => ({ First: faulty(), Second: { type: "http", url: peer.url } }));
  const ask = rawCaller(tested.bus);
  expect(await ask("ACT", {})).toMatchObject({ content: "fine", toolName: "ACT" });
  expect(await ask("echo", { [Header.McpServer]: "FIRST" })).toMatchObject({ content: "{}" });
  expect(await ask("first__ECHO", {})).toMatchObject({ content: "{}" });
  expect(await ask("echo", { [Header.McpServer]: "second" })).toMatchObject({
    code: "tool_not_found",
    message: expect.stringContaining('"Second" offers no tool "echo"'),
  });
  expect(await ask("echo", { [Header.McpServer]: "thrid" })).toMatchObject({
    code: "tool_not_found",
    message: expect.not.stringMatching(/First|Second/),
  });
  expect(await ask("no_such_tool", {})).toMatchObject({ code: "tool_not_found" });
});

test("nothing that a caller reads names a server of which it may use nothing", async () => {
  const policy = holdPolicy(
    createPolicy(
      await readPolicy("everyone: { allow: ['*'] }\ncallers: { bob: { allow: ['open__*', 'mcp_*'] } }", "of the test"),
    ),
  );
  await using tested = await startTestBridge(
    () => ({ open: faulty(), secret: faulty(), awaited_secret: faulty("silent") }),
    { policy, settleMs: 500 },
  );
  const { bus } = tested;
  await using bob = await createToolCaller(bus, { agent: "bob", policy });
  await using _tools = await offerMcpTools(bus, bob, { agent: "bob", policy });
  await bob.discovered();
  await expect
    .poll(() => bob.tools.getTools().map(({ name }) => name), { timeout: 10_000 })
    .toEqual(expect.arrayContaining(["open__echo", "mcp_list_services"]));
  const told = async (name: string, args: object) => bob.call(name, args).catch((error: unknown) => error as ToolError);
  const texts: readonly unknown[] = [
    await bob.getGuides(),
    await told("list_tool_guides", {}),
    await told("get_tool_guide", { name: "mcp-tool-guide" }),
    await told("mcp_list_services", {}),
    await told("mcp_get_service_details", { server_name: "secre" }),
    await told("mcp_invoke_tool", { server_name: "secre", tool_name: "echo" }),
    await told("secre__echo", {}),
    await rawCaller(bus, "bob")("echo", { [Header.McpServer]: "secre" }),
    await rawCaller(bus, "bob")("sekret__echo", {}),
  ];
  for (const text of texts) expect(sayingOf(text)).not.toMatch(/secret/);
  expect(JSON.stringify(texts[0])).toContain('What the server \\"open\\" says of itself');
  for (const server_name of ["secret", "awaited_secret"])
    expect(await told("mcp_invoke_tool", { server_name, tool_name: "echo" })).toMatchObject({ code: "tool_not_found" });
  expect(await told("mcp_invoke_tool", { server_name: "open", tool_name: "ehco" })).toMatchObject({
    message: expect.stringContaining('Did you mean "echo"'),
  });
});

const sayingOf = (said: unknown): string =>
  JSON.stringify(said instanceof Error ? [said.message, (said as ToolError).details] : said);

test("answers say that they come from a tool of an MCP server, also those that say why there is none", async () => {
  await using tested = await startTestBridge(() => ({ peer: faulty() }));
  const requester = createRequester(tested.bus, {
    replyTo: "tool.result.RockBot",
    subscription: { name: "raw", kind: "copy" },
  });
  for (const toolName of ["echo", "crash", "no_such_tool"]) {
    const body = encodeMessage("ToolInvokeRequest", {
      toolCallId: newId(),
      toolName,
      arguments: null,
      sessionId: null,
    });
    const type = messages.ToolInvokeRequest.type;
    const envelope = createEnvelope({
      topic: "tool.invoke.mcp",
      type,
      source: "RockBot",
      correlationId: newId(),
      body,
    });
    const { headers } = await requester.request(envelope, { timeoutMs: 10_000 });
    expect(headers).toMatchObject({ [Header.ContentTrust]: "tool-output", [Header.ToolProvider]: "mcp" });
  }
});

test("a policy holds for a tool under each of its names", async () => {
  using opened = temporaryFolder();
  const policyFile = join(opened.path, "policy.yaml");
  writeFileSync(policyFile, "everyone: { allow: ['*'], deny: [one__echo] }");
  await using policy = await openPolicy(policyFile);
  await using tested = await startTestBridge(() => ({ one: faulty(), two: { ...faulty(), toolsAllowed: ["twice"] } }), {
    policy,
  });
  const ask = rawCaller(tested.bus);
  const denied = { code: "denied", message: expect.stringContaining('"one__echo"') };
  expect(await ask("one__echo", {})).toMatchObject({ ...denied, toolName: "one__echo" });
  expect(await ask("ONE__ECHO", {})).toMatchObject(denied);
  expect(await ask("echo", { [Header.McpServer]: "one" })).toMatchObject({ ...denied, toolName: "echo" });
  expect(await ask("echo", {})).toMatchObject(denied);
  expect(await ask("twice", { [Header.McpServer]: "two" })).toMatchObject({ content: "first", toolName: "twice" });
});

test("a call's deadline and its cancellation reach the server", async () => {
  await using tested = await startTestBridge(() => ({ faulty: faulty() }));
  const { caller } = tested;
  await expect(caller.call("faulty__hang", {}, { timeoutMs: 400 })).rejects.toMatchObject({ code: "timeout" });
  const cancel = new AbortController();
  const cancelled = caller.call("faulty__hang", {}, { signal: cancel.signal });
  await caller.call("faulty__echo", {});
  cancel.abort();
  await expect(cancelled).rejects.toMatchObject({ code: "cancelled" });
  await expect
    .poll(async () => JSON.parse((await caller.call("faulty__cancelled", {})).content ?? "[]"))
    .toHaveLength(2);
});

test("arguments that do not fit are refused with all faults, and the server is not asked; a definition that is wrong costs no other tool", async () => {
  const schema = {
    type: "object",
    required: ["city"],
    properties: { city: { $ref: "#/$defs/city" }, days: { type: "integer" } },
    $defs: { city: { type: "string" } },
  };
  await using peer = await startRawHttpServer({
    tools: [
      { name: "forecast", inputSchema: schema },
      { name: "broken", inputSchema: null },
      { name: "button", inputSchema: { type: "object" }, _meta: { ui: { visibility: ["app"] } } },
    ],
  });
  await using tested = await startTestBridge(() => ({ weather: { url: peer.url } }));
  const { caller, bridge } = tested;
  await expect.poll(() => announcedTools(caller)).toEqual(["weather__forecast"]);
  expect(bridge.servers[0]?.leftOut).toMatchObject([
    { tool: "broken" },
    { tool: "button", why: "it is for apps only" },
  ]);
  await expect(caller.call("weather__forecast", { days: "two" })).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringMatching(
      /city: is required and missing.*days: expected integer, got the text "two"|days: .*; city: /,
    ),
    details: { faults: [expect.any(Object), expect.any(Object)] },
  });
  expect(peer.requests.get("tools/call")).toBeUndefined();
  expect(await caller.call("weather__forecast", { city: "Bern", days: 2 })).toMatchObject({ content: "fine" });
  await expect(caller.call("weather__button", {})).rejects.toMatchObject({ code: "tool_not_found" });
});

test("a tool of a server that is being connected, or is away, is unavailable for now, by each of its names; one of no server is unknown", async () => {
  await using tested = await startTestBridge(
    () => ({ slow: faulty("silent"), gone: faulty("exit-at-start"), works: faulty() }),
    { settleMs: 0 },
  );
  const { caller, bus, bridge } = tested;
  await expect.poll(() => announcedTools(caller), { timeout: 10_000 }).toContain("works__echo");
  await expect
    .poll(() => bridge.servers.find(({ name }) => name === "gone")?.failures, { timeout: 10_000 })
    .toBeGreaterThan(0);
  const away = {
    code: "unavailable",
    isRetryable: true,
    retryAfterMs: expect.any(Number),
    details: { mayHaveRun: false },
  };
  for (const name of ["slow__echo", "gone__echo", "SLOW__any"])
    await expect(caller.call(name, {})).rejects.toMatchObject(away);
  const ask = rawCaller(bus);
  for (const [name, headers] of [
    ["slow__echo", {}],
    ["only_there", {}],
    ["echo", { [Header.McpServer]: "slow" }],
  ] as const)
    expect(await ask(name, headers)).toMatchObject({ code: "unavailable", isRetryable: true });
  await expect(caller.call("nowhere__echo", {})).rejects.toMatchObject({ code: "tool_not_found", isRetryable: false });
  expect(await ask("works__none", {})).toMatchObject({ code: "tool_not_found" });
});

test("a server that fails neither delays nor stops another, and is announced once it is there", async () => {
  await using tested = await startTestBridge(() => ({
    broken: faulty("exit-at-start"),
    silent: { ...faulty("silent"), connectTimeoutMs: 2_000 },
    fine: faulty(),
  }));
  const { bridge, caller } = tested;
  expect(bridge.servers.find(({ name }) => name === "fine")).toMatchObject({ state: "ready" });
  expect(await caller.call("fine__echo", { n: 1 })).toMatchObject({ content: '{"n":1}' });
  const ask = rawCaller(tested.bus); // who has heard of the tool from another replica
  expect(await ask("BROKEN__echo", {})).toMatchObject({ code: "unavailable", details: { mayHaveRun: false } });
  expect(await ask("brocken__echo", {})).toMatchObject({ code: "tool_not_found" });
  await expect(caller.call("fine__crash", {})).rejects.toMatchObject({ code: "outcome_unknown" });
  expect(await caller.call("fine__echo", { n: 2 })).toMatchObject({ content: '{"n":2}' });
}, 40_000);

test("the file is read again when its content changes: what has not changed stays, what is broken changes nothing", async () => {
  await using tested = await startTestBridge(() => ({ stays: { ...faulty(), pin: "off" }, goes: faulty() }));
  const { caller, folder } = tested;
  await caller.call("stays__grow", {});
  await expect.poll(() => announcedTools(caller).some((name) => name.startsWith("stays__grown_"))).toBe(true);
  const inFlight = caller.call("goes__hang", {}, { timeoutMs: 3_000 }).catch((error: unknown) => error); // it may end before it is awaited

  folder.write("mcp.json", '{ "mcpServers": { "stays": { "comand": "x" } } }');
  folder.write("mcp.json", {
    mcpServers: { stays: { ...faulty(), pin: "off" }, comes: { ...faulty(), toolsAllowed: ["echo"] } },
  });
  await expect
    .poll(() => announcedTools(caller).filter((name) => !name.startsWith("stays__")), { timeout: 10_000 })
    .toEqual(["comes__echo"]);
  expect(announcedTools(caller).some((name) => name.startsWith("stays__grown_"))).toBe(true); // the same process as before
  expect(await inFlight).toMatchObject({ code: "timeout" }); // it was let finish
});

test("an agent that asks gets the whole index, and then each change", async () => {
  await using tested = await startTestBridge(() => ({ one: faulty(), two: { ...faulty(), toolsAllowed: ["echo"] } }));
  const { bus, folder } = tested;
  const heard: McpServersIndexed[] = [];
  await using _ = await bus.subscribe(
    { name: "agent-index", topics: ["tool.meta.mcp.RockBot"], kind: "copy" },
    async ({ body, headers }) => {
      const index = decodeMessage("McpServersIndexed", body);
      expect(headers[Header.ContentTrust]).toBe("system");
      if (index.ok) heard.push(index.value);
    },
  );
  const body = encodeMessage("McpMetadataRefreshRequest", { serverName: null });
  await bus.publish(
    createEnvelope({
      topic: "tool.meta.mcp.refresh",
      type: messages.McpMetadataRefreshRequest.type,
      source: "RockBot",
      body,
    }),
  );
  await expect.poll(() => heard.length).toBeGreaterThan(0);
  expect(heard[0]).toMatchObject({ isSnapshot: true, epoch: expect.any(Number) });
  expect(heard[0]?.servers.map(({ serverName, toolCount }) => [serverName, toolCount])).toContainEqual(["two", 1]);
  expect(heard[0]?.servers.find(({ serverName }) => serverName === "two")).toEqual({
    serverName: "two",
    displayName: null,
    summary: "Provides 1 tool(s): echo.",
    toolCount: 1,
    toolNames: ["echo"],
  });

  folder.write("mcp.json", { mcpServers: { two: { ...faulty(), toolsAllowed: ["echo"] } } });
  await expect
    .poll(() => heard.at(-1)?.servers.map(({ serverName }) => serverName), { timeout: 10_000 })
    .toEqual(["two"]);
  expect(heard.slice(-2)).toMatchObject([{ servers: [], removedServers: ["one"] }, { isSnapshot: true }]);
});

test("mcp.manage answers as the original's messages have it, and opens no door", async () => {
  await using tested = await startTestBridge(() => ({ one: { ...faulty(), toolsAllowed: ["echo"] } }));
  const ask = manageClient(tested.bus);
  expect(await ask("McpGetServiceDetailsRequest", { serverName: "ONE" })).toEqual({
    type: "RockBot.Tools.Mcp.McpGetServiceDetailsResponse",
    headers: { [Header.ContentTrust]: "tool-output", [Header.ToolProvider]: "mcp" },
    body: {
      serverName: "one",
      tools: [{ name: "echo", description: "The fault echo.", parametersSchema: '{"type":"object"}' }],
      error: null,
    },
  });
  expect(await ask("McpGetServiceDetailsRequest", { serverName: "nope" })).toMatchObject({
    body: { serverName: "nope", tools: [], error: "nope: not connected" },
  });
  const hostile = { serverName: "evil", type: "stdio", command: "sh", args: ["-c", "touch /tmp/owned"], env: {} };
  expect(await ask("McpRegisterServerRequest", hostile)).toMatchObject({
    type: "RockBot.Tools.Mcp.McpRegisterServerResponse",
    body: { serverName: "evil", success: false, summary: null, error: expect.stringMatching(/^denied: /) },
  });
  expect(await ask("McpUnregisterServerRequest", { serverName: "one" })).toMatchObject({
    body: { serverName: "one", success: false, error: expect.stringMatching(/^denied: /) },
  });
  expect(await ask("McpGetServiceDetailsRequest", { serverName: 7 } as never)).toMatchObject({
    body: { serverName: "unknown", error: expect.stringContaining("serverName") },
  });
  expect(tested.bridge.servers).toHaveLength(1);
});

test("a token from the environment reaches its server, and no answer", async () => {
  await using peer = await startFaultHttpServer();
  const entry = { type: "http", url: peer.url, auth: { type: "bearer", token: variable("PEER_TOKEN") } };
  await using tested = await startTestBridge(() => ({ remote: entry }), { env: { PEER_TOKEN: "canary-4711" } });
  expect(await tested.caller.call("remote__act", {})).toMatchObject({ content: "fine" });
  peer.answer = httpFaults.status(500);
  await expect(tested.caller.call("remote__act", {})).rejects.toMatchObject({
    message: expect.not.stringContaining("canary"),
  });
  expect(new Set(peer.authorizations)).toEqual(new Set(["Bearer canary-4711"]));
  expect(JSON.stringify(tested.bridge.servers)).not.toContain("canary");
});

function manageClient(bus: Parameters<typeof createRequester>[0]) {
  const requester = createRequester(bus, {
    replyTo: "mcp.manage.response.RockBot",
    subscription: { name: "managing", kind: "copy" },
  });
  return async (name: keyof typeof messages, value: object): Promise<object> => {
    const envelope = createEnvelope({
      topic: "mcp.manage",
      type: messages[name].type,
      source: "RockBot",
      correlationId: newId(),
      body: Buffer.from(JSON.stringify(value)),
    });
    const { type, headers, body } = await requester.request(envelope, { timeoutMs: 10_000 });
    return { type, headers, body: JSON.parse(Buffer.from(body).toString()) };
  };
}
