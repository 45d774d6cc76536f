import { configSchema as agentSchema, startAgentService } from "@rockbot/agent-service";
import { createMemoryBus } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { configSchema as schedulerSchema, startScheduler } from "@rockbot/scheduler";
import { type ModelServerRequest, type ModelStep, startModelServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller, serveTools } from "@rockbot/tools";
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
  await call("agent__chat", { message: `Call ${JSON.stringify({ name: "schedule_task", arguments: schedule("robots") })}`, session_id: "s" });
  await call("robot_switch", { robot_id: null, session_id: "s" });
  await call("agent__chat", { message: `Call ${JSON.stringify({ name: "schedule_task", arguments: schedule("plain") })}`, session_id: "s" });
  await expect.poll(() => told.filter((text) => /This scheduled task/.test(text)).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(2);
  await expect.poll(() => ran, { timeout: 20_000 }).toEqual(["plain"]);
  expect(told.find((text) => text.includes('task runs once: "robots"'))).toContain('"effect" was not called: the agent "clerk" does not have this tool');
});

/** A scheduler and an agent, whose model makes the call that it is told, and says what came of it. */
async function startScene() {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const told: string[] = [];
  const model = started.use(
    await startModelServer(({ messages }: ModelServerRequest): ModelStep => {
      const at = messages.findLastIndex(({ role }) => role === "user");
      const asked = messages[at]?.text ?? "";
      const [result] = messages.slice(at + 1).filter(({ role }) => role === "tool");
      if (result !== undefined) told.push(`${asked}: ${result.text}`);
      return result === undefined ? { toolCalls: [JSON.parse(/Call (\{.*\})/.exec(asked)?.[1] ?? "") as { name: string }] } : { text: result.text };
    }),
  );
  const bus = started.use(createMemoryBus());
  const ran: string[] = [];
  started.use(await serveTools(bus, { tools: [effectTool(async (_callId, what) => void ran.push(what))] }, { service: "effects" }));
  const schedules = loadConfig(schedulerSchema, { env: { SCHEDULES_FILE: `${folder.path}/schedules.json`, TIMEZONE: "UTC" } });
  started.use(await startScheduler(bus, schedules, { service: "scheduler" }));
  const env = { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey, DATA_DIRECTORY: folder.path };
  const connectRecords = () => Promise.reject(new Error("no test needs another database"));
  started.use(await startAgentService(bus, loadConfig(agentSchema, { env }), { service: "agent", topic: "tool.invoke.agent", connectRecords }));
  const caller = started.use(await createToolCaller(bus, { agent: "alice" }));
  await caller.discovered();
  const running = started.move();
  return { call: (name: string, input: object) => caller.call(name, input), ran, told, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
