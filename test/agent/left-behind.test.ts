import { configSchema as agentSchema, startAgentService } from "@rockbot/agent-service";
import { createMemoryBus } from "@rockbot/bus";
import { configSchema as bridgeSchema, startMcpBridge } from "@rockbot/mcp-bridge";
import { loadConfig } from "@rockbot/process/config";
import { configSchema as schedulerSchema, startScheduler } from "@rockbot/scheduler";
import {
  type ModelServerRequest,
  type ModelStep,
  startModelServer,
  startRawHttpServer,
  temporaryFolder,
} from "@rockbot/testing";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { createMemoryTrustStore } from "@rockbot/trust";
import { expect, test } from "vitest";
import { effectTool } from "./effect-tool.ts";

test("a task that a robot's session has scheduled runs with the robot's tools, also once the session is the plain agent again", {
  timeout: 60_000,
}, async () => {
  await using scene = await startScene();
  const { call, ran, told } = scene;
  const schedule = (name: string) => ({
    name,
    cron: "* * * * * *",
    description: `Call ${JSON.stringify({ name: "effect", arguments: { what: name } })}`,
    run_once: true,
  });
  const { structured } = await call("robot_create", { name: "clerk", playbook: "x", tools: ["schedule_task"] });
  await call("robot_switch", { robot_id: structured?.["robot_id"], session_id: "s" });
  await call("agent__chat", {
    message: `Call ${JSON.stringify({ name: "schedule_task", arguments: schedule("robots") })}`,
    session_id: "s",
  });
  await call("robot_switch", { robot_id: null, session_id: "s" });
  await call("agent__chat", {
    message: `Call ${JSON.stringify({ name: "schedule_task", arguments: schedule("plain") })}`,
    session_id: "s",
  });
  await expect
    .poll(() => told.filter((text) => /This scheduled task/.test(text)).length, { timeout: 20_000 })
    .toBeGreaterThanOrEqual(2);
  await expect.poll(() => ran, { timeout: 20_000 }).toEqual(["plain"]);
  expect(told.find((text) => text.includes('task runs once: "robots"'))).toContain(
    '"effect" was not called: the agent "clerk" does not have this tool',
  );
});

test("a robot calls no MCP tool by mcp_invoke_tool that it has not itself: not by a wisp, a batch, a child or a task", {
  timeout: 60_000,
}, async () => {
  await using zoo = await startRawHttpServer({
    tools: ["read", "feed"].map((name) => ({ name, description: name, inputSchema: { type: "object" } })),
    calls: Object.fromEntries(
      ["read", "feed"].map((name) => [name, { result: { content: [{ type: "text", text: `zoo did ${name}` }] } }]),
    ),
  });
  await using scene = await startScene(zoo.url);
  const { call, told } = scene;
  const invoke = (tool_name: string) => ({
    name: "mcp_invoke_tool",
    arguments: { server_name: "zoo", tool_name, arguments: {} },
  });
  const step = ({ name: tool, arguments: args }: ReturnType<typeof invoke>) => ({ tool, arguments: args });
  const wisp = { description: "Feeds.", steps: [{ id: "a", ...step(invoke("feed")) }] };
  const task = {
    name: "feeds",
    cron: "* * * * * *",
    description: `Call ${JSON.stringify(invoke("feed"))}`,
    run_once: true,
  };
  const tools = [
    "mcp_invoke_tool",
    "zoo__read",
    "agent__batch",
    "invoke_tool",
    "spawn_wisps",
    "save_wisp",
    "wisp__*",
    "schedule_task",
    "agent__cook",
  ];
  const ask = async (made: { readonly name: string; readonly arguments: object }, session_id = "s") =>
    (await call("agent__chat", { message: `Call ${JSON.stringify(made)}`, session_id })).content;
  await ask({ name: "save_wisp", arguments: { name: "given", definition: wisp } }, "plain");
  await call("robot_create", { name: "cook", description: "Cooks.", playbook: "x", tools: ["*"] });
  const { structured } = await call("robot_create", { name: "clerk", playbook: "x", tools });
  await call("robot_switch", { robot_id: structured?.["robot_id"], session_id: "s" });
  const refused = /zoo__feed\W+was not called: the agent \W+clerk\W+ does not have this tool/;
  expect(await ask(invoke("feed"))).toMatch(refused);
  expect(await ask(invoke("held"))).toContain('"zoo__held" was not called: the agent "clerk" does not have this tool'); // which nothing announces
  expect(await ask({ name: "spawn_wisps", arguments: { definitions: [wisp] } })).toMatch(refused);
  expect(
    await ask({
      name: "agent__batch",
      arguments: { calls: [step(invoke("feed")), { tool: "invoke_tool", arguments: invoke("feed") }] },
    }),
  ).toMatch(refused);
  expect(await ask({ name: "save_wisp", arguments: { name: "feeds", definition: wisp } })).toContain("Saved the wisp");
  for (const name of ["wisp__feeds", "wisp__given"]) expect(await ask({ name, arguments: {} })).toMatch(refused);
  expect(await ask({ name: "wisp__feeds", arguments: {} }, "plain")).toMatch(refused);
  expect(await ask({ name: "agent__cook", arguments: { prompt: `Call ${JSON.stringify(invoke("feed"))}` } })).toMatch(
    refused,
  );
  await ask({ name: "schedule_task", arguments: task });
  await expect
    .poll(() => told.find((text) => text.includes('task runs once: "feeds"')), { timeout: 20_000 })
    .toMatch(refused);
  expect(zoo.requests.get("tools/call")).toBeUndefined();
  expect(await ask(invoke("read"))).toContain("zoo did read");
  expect(await ask(invoke("feed"), "plain")).toContain("zoo did feed");
});

/** A scheduler and an agent, whose model makes the call that its message names, and repeats the result. */
async function startScene(zoo?: string) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const told: string[] = [];
  const model = started.use(
    await startModelServer(({ messages }: ModelServerRequest): ModelStep => {
      const at = messages.findLastIndex(({ role }) => role === "user");
      const asked = messages[at]?.text ?? "";
      const [result] = messages.slice(at + 1).filter(({ role }) => role === "tool");
      if (result !== undefined) told.push(`${asked}: ${result.text}`);
      return result === undefined
        ? { toolCalls: [JSON.parse(/Call (\{.*\})/.exec(asked)?.[1] ?? "") as { name: string }] }
        : { text: result.text };
    }),
  );
  const bus = started.use(createMemoryBus());
  const ran: string[] = [];
  started.use(
    await serveTools(
      bus,
      { tools: [effectTool(async (_callId, what) => void ran.push(what))] },
      { service: "effects" },
    ),
  );
  const schedules = loadConfig(schedulerSchema, {
    env: { SCHEDULES_FILE: `${folder.path}/schedules.json`, TIMEZONE: "UTC" },
  });
  started.use(await startScheduler(bus, schedules, { service: "scheduler" }));
  if (zoo !== undefined) {
    const mcpConfig = folder.write("mcp.json", { mcpServers: { zoo: { type: "http", url: zoo } } });
    const settings = loadConfig(bridgeSchema, { env: {}, overrides: { mcpConfig, pin: "first-sight" } });
    const bridge = started.use(
      await startMcpBridge(bus, settings, { env: {}, trustStore: started.use(createMemoryTrustStore()) }),
    );
    await bridge.settled(20_000);
  }
  const env = { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey, DATA_DIRECTORY: folder.path };
  const connectRecords = () => Promise.reject(new Error("no test needs another database"));
  started.use(
    await startAgentService(bus, loadConfig(agentSchema, { env }), {
      service: "agent",
      topic: "tool.invoke.agent",
      connectRecords,
    }),
  );
  const caller = started.use(await createToolCaller(bus, { agent: "alice" }));
  await caller.discovered();
  const running = started.move();
  return {
    call: (name: string, input: object) => caller.call(name, input),
    ran,
    told,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
