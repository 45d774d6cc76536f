import { type Bus, createMemoryBus } from "@rockbot/bus";
import { createEnvelope, decodeMessage, encodeMessage, Header, messages, textResponse } from "@rockbot/contracts";
import { offerMcpTools, readIndex } from "@rockbot/mcp/for-agents";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { faulty, rawCaller, realServers, startTestBridge } from "./test-bridge.ts";

const OFFERED = ["mcp_get_service_details", "mcp_invoke_tool", "mcp_list_services"];

async function startAgent(servers: (folder: string) => object) {
  const tested = await startTestBridge(servers);
  const { bus, caller } = tested;
  const tools = await offerMcpTools(bus, caller, { agent: "tester" });
  const names = (): string[] => caller.tools.getTools().flatMap(({ name }) => (name.startsWith("mcp_") ? [name] : []));
  await expect.poll(names).toEqual(OFFERED);
  return {
    ...tested,
    names,
    async [Symbol.asyncDispose]() {
      await tools[Symbol.asyncDispose]();
      await tested[Symbol.asyncDispose]();
    },
  };
}

test("who asks which servers there are is told, too, if the first question is lost", async () => {
  await using tested = await startTestBridge(() => ({ one: { ...faulty(), toolsAllowed: ["echo"] } }));
  let asked = 0;
  const losing: Bus = Object.create(tested.bus, {
    publish: {
      value: async (...message: Parameters<Bus["publish"]>) =>
        asked++ === 0 ? undefined : tested.bus.publish(...message),
    },
  });
  expect(await readIndex(losing, { agent: "operator", timeoutMs: 20_000 })).toMatchObject([{ serverName: "one" }]);
});

test("who asks once which servers there are is told all of them; where no bridge runs, nothing", async () => {
  await using tested = await startTestBridge(() => ({
    one: { ...faulty(), toolsAllowed: ["echo"] },
    two: faulty("exit-at-start"),
  }));
  const asking = { agent: "operator", timeoutMs: 10_000 };
  expect(await readIndex(tested.bus, asking)).toMatchObject([{ serverName: "one", toolNames: ["echo"] }]);
  await using empty = createMemoryBus();
  expect(await readIndex(empty, { ...asking, timeoutMs: 50 })).toBeUndefined();
});

test("an agent lists servers without a call, reads a tool's schema, and calls it", async () => {
  await using agent = await startAgent(() => ({ Everything: realServers.everything }));
  const { caller } = agent;
  const listed = await caller.call("mcp_list_services", {});
  expect(listed.structured).toMatchObject({
    services: [
      { serverName: "Everything", toolCount: expect.any(Number), toolNames: expect.arrayContaining(["echo"]) },
    ],
  });
  const details = await caller.call("mcp_get_service_details", { server_name: "everything", tool_name: "ECHO" });
  expect(JSON.parse(details.content ?? "[]")).toEqual([
    { name: "echo", description: expect.any(String), parameters: expect.objectContaining({ required: ["message"] }) },
  ]);
  const updates: object[] = [];
  const call = {
    server_name: "EVERYTHING",
    tool_name: "trigger-long-running-operation",
    arguments: { duration: 1, steps: 2 },
  };
  expect(await caller.call("mcp_invoke_tool", call, { onProgress: (update) => updates.push(update) })).toMatchObject({
    content: expect.stringContaining("completed"),
    trust: { level: "untrusted", origin: "mcp:Everything" },
  });
  expect(updates.length).toBeGreaterThan(0);
});

test.each([
  ["an object", { message: "hi" }],
  ["a JSON object as text", '{"message":"hi"}'],
])("the arguments may be %s", async (_, args) => {
  await using agent = await startAgent(() => ({ faulty: faulty() }));
  expect(
    await agent.caller.call("mcp_invoke_tool", { server_name: "faulty", tool_name: "echo", arguments: args }),
  ).toMatchObject({
    content: '{"message":"hi"}',
  });
});

test("what does not exist is said with the nearest name, and arguments that are none are refused", async () => {
  await using agent = await startAgent(() => ({ faulty: faulty() }));
  const invoke = (args: object) => agent.caller.call("mcp_invoke_tool", args).catch((error: unknown) => error);
  expect(await invoke({ server_name: "fautly", tool_name: "echo" })).toMatchObject({
    code: "tool_not_found",
    message: expect.stringContaining('did you mean "faulty"'),
  });
  expect(await invoke({ server_name: "faulty", tool_name: "ehco" })).toMatchObject({
    code: "tool_not_found",
    message: expect.stringContaining('Did you mean "echo"'),
  });
  expect(await invoke({ server_name: "faulty", tool_name: "echo", arguments: "not json" })).toMatchObject({
    code: "invalid_arguments",
  });
  expect(await invoke({ tool_name: "echo" })).toMatchObject({
    code: "invalid_arguments",
    message: expect.stringContaining("server_name"),
  });
});

test("a server that is being connected is unavailable for now, and no unknown one", async () => {
  await using tested = await startTestBridge(() => ({ slow: faulty("silent"), works: faulty() }), { settleMs: 0 });
  const { bus, caller } = tested;
  await using _ = await offerMcpTools(bus, caller, { agent: "tester" });
  await expect
    .poll(async () => (await caller.call("mcp_list_services", {}).catch(() => undefined))?.content, { timeout: 10_000 })
    .toContain("works");
  const away = { code: "unavailable", isRetryable: true, retryAfterMs: expect.any(Number) };
  for (const call of [
    caller.call("mcp_invoke_tool", { server_name: "Slow", tool_name: "echo" }),
    caller.call("mcp_get_service_details", { server_name: "slow" }),
  ])
    await expect(call).rejects.toMatchObject(away);
  await expect(caller.call("mcp_invoke_tool", { server_name: "slo", tool_name: "echo" })).rejects.toMatchObject({
    code: "tool_not_found",
  });
});

test("a tool that is held is answered with what to do, however it is called", async () => {
  await using agent = await startAgent(() => ({ faulty: faulty() }));
  await agent.caller.call("faulty__redefine", { tool: "echo", description: "Else." });
  await expect.poll(() => agent.caller.tools.getExecutor("faulty__echo"), { timeout: 10_000 }).toBeUndefined();
  const call = agent.caller.call("mcp_invoke_tool", { server_name: "faulty", tool_name: "echo" });
  await expect(call).rejects.toMatchObject({
    code: "denied",
    message: expect.stringMatching(/^(?!.*rockbot mcp).*An operator has to approve it first/),
  });
});

test("once untrusted content was read, only tools run whose server the operator believes that they change nothing", async () => {
  const yaml = "everyone: { allow: ['*'], afterUntrusted: { effects: deny } }";
  const policy = holdPolicy(createPolicy(await readPolicy(yaml, "of the test")));
  const servers = () => ({ claims: faulty(), trusted: { ...faulty(), trustAnnotations: true } }); // both say that whoami is read-only
  await using tested = await startTestBridge(servers, { policy });
  const { bus, caller } = tested;
  await using _ = await offerMcpTools(bus, caller, { agent: "tester" });
  await expect.poll(() => caller.tools.get("mcp_invoke_tool"), { timeout: 10_000 }).toBeDefined();
  const call = async (tool: string, args: object) =>
    await caller.call(tool, args, { hasReadUntrusted: true }).then(
      () => "ran",
      (error: { details?: { reason?: string } }) => error.details?.reason,
    );
  const denied = "after_untrusted";
  expect([
    await call("claims__whoami", {}),
    await call("trusted__whoami", {}),
    await call("trusted__echo", {}),
  ]).toEqual([denied, "ran", denied]);
  const invoke = (server_name: string, tool_name: string) => call("mcp_invoke_tool", { server_name, tool_name });
  expect([
    await invoke("claims", "whoami"),
    await invoke("trusted", "whoami"),
    await invoke("trusted", "echo"),
  ]).toEqual([denied, "ran", denied]);

  const raw = rawCaller(bus, "raw"); // as agents of the .NET original call
  const header = { [Header.McpServer]: "claims" };
  expect(await raw("whoami", { ...header, [Header.Untrusted]: "true" })).toMatchObject({
    code: "denied",
    details: { reason: denied },
  });
  expect(await raw("whoami", header)).not.toHaveProperty("code");
});

test.each<[string, object]>([
  ["have no end", { type: "object", allOf: [{ $ref: "#" }] }],
  [
    "lead back to each other",
    { type: "object", $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
  ],
  ["double with each level", { type: "object", properties: { n: { anyOf: [{ $ref: "#" }, { $ref: "#" }] } } }],
])("a server's tool whose references %s is listed, and called", async (_, inputSchema) => {
  await using agent = await startAgent(() => ({ faulty: { ...faulty(), pin: "off" } }));
  const { caller } = agent;
  await caller.call("faulty__redefine", { tool: "echo", inputSchema });
  await expect
    .poll(() => caller.tools.get("faulty__echo")?.parametersSchema, { timeout: 10_000 })
    .toBe(JSON.stringify(inputSchema));
  const nested = Array.from({ length: 40 }).reduce<object>((n) => ({ n }), {});
  expect(await caller.call("faulty__echo", nested)).toMatchObject({ content: JSON.stringify(nested) });
});

test("cancelling the call of mcp_invoke_tool cancels the call at the server", async () => {
  await using agent = await startAgent(() => ({ faulty: faulty() }));
  const { caller } = agent;
  const cancel = new AbortController();
  const call = caller.call("mcp_invoke_tool", { server_name: "faulty", tool_name: "hang" }, { signal: cancel.signal });
  await caller.call("faulty__echo", {});
  cancel.abort();
  await expect(call).rejects.toMatchObject({ code: "cancelled" });
  await expect.poll(async () => (await caller.call("faulty__cancelled", {})).content).toMatch(/\[\d+\]/);
});

test("an agent that started before the bridge gets the tools when one comes", async () => {
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "early" });
  await using _ = await offerMcpTools(bus, caller, { agent: "early" });
  const names = () => caller.tools.getTools().map(({ name }) => name);
  expect(names()).not.toContain("mcp_list_services");
  await using _bridge = await startTestBridge(() => ({ faulty: faulty() }), { bus });
  await expect.poll(names, { timeout: 5_000 }).toContain("mcp_list_services");
  expect((await caller.call("mcp_list_services", {})).content).toContain("faulty");
});

test("a bridge that speaks the original's messages only is called by the header that names the server", async () => {
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "early" });
  await using _ = await offerMcpTools(bus, caller, { agent: "early" });
  await using _bridge = await bus.subscribe(
    { name: "mcp-bridge.original", topics: ["tool.invoke.mcp"] },
    async ({ body, headers, replyTo, correlationId }) => {
      const request = decodeMessage("ToolInvokeRequest", body);
      if (!request.ok || replyTo === undefined) return;
      const answer = encodeMessage(
        "ToolInvokeResponse",
        textResponse(request.value, `${headers[Header.McpServer]}: ${request.value.arguments}`),
      );
      await bus.publish(
        createEnvelope({
          topic: replyTo,
          type: messages.ToolInvokeResponse.type,
          source: "mcp-bridge.RockBot",
          correlationId,
          body: answer,
        }),
      );
    },
  );
  const index = encodeMessage("McpServersIndexed", {
    servers: [{ serverName: "Calendar", toolNames: ["list_events"] }],
    removedServers: [],
  });
  await bus.publish(
    createEnvelope({
      topic: "tool.meta.mcp.early",
      type: messages.McpServersIndexed.type,
      source: "mcp-bridge.RockBot",
      body: index,
    }),
  );
  await expect.poll(() => caller.tools.getExecutor("mcp_invoke_tool")).toBeDefined();
  const call = caller.call("mcp_invoke_tool", {
    server_name: "calendar",
    tool_name: "list_events",
    arguments: { limit: 1 },
  });
  expect(await call).toMatchObject({ content: 'calendar: {"limit":1}', trust: { level: "untrusted" } });
});
