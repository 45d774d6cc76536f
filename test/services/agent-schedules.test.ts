import { configSchema as agentSchema, startAgentService } from "@rockbot/agent-service";
import { createMemoryBus } from "@rockbot/bus";
import { tools } from "@rockbot/contracts";
import { loadConfig } from "@rockbot/process/config";
import { configSchema as schedulerSchema, startScheduler } from "@rockbot/scheduler";
import { type ModelServerRequest, type ModelStep, startModelServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";

const WAIT = { timeout: 20_000, interval: 50 };

/** A model that schedules what it is asked to do later, and does what a task says. */
function model({ messages }: ModelServerRequest): ModelStep {
  if (messages.some(({ role, text }) => role === "user" && text.includes("This scheduled task runs once")))
    return { text: "The kettle is hot." };
  if (messages.at(-1)?.role === "tool") return { text: "I shall." };
  const task = { name: "kettle", cron: "* * * * * *", description: "Say that the kettle is hot.", run_once: true };
  return { toolCalls: [{ name: tools.scheduleTask.name, arguments: task }] };
}

test("the agent schedules a task when it is asked to, is sent it at its time, and its answer goes to the session that asked", async () => {
  using folder = temporaryFolder();
  await using server = await startModelServer(model);
  await using bus = createMemoryBus();
  const env = {
    MODEL_URL: server.url,
    MODEL: server.model,
    MODEL_API_KEY: server.apiKey,
    SCHEDULES_FILE: `${folder.path}/schedules.json`,
  };
  await using _scheduler = await startScheduler(bus, loadConfig(schedulerSchema, { env }), { service: "scheduler" });
  await using _agent = await startAgentService(bus, loadConfig(agentSchema, { env }), {
    service: "agent",
    topic: "tool.invoke.agent",
  });
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  const ask = (name: string, args: object) =>
    caller.call(name, args, { onBehalfOf: "asker", sessionId: "session/tea" });

  expect((await ask("agent__chat", { message: "Tell me when the kettle is hot.", session_id: "tea" })).content).toBe(
    "I shall.",
  );

  const finished = async () => {
    const { structured } = await ask("agent__events", { session_id: "tea" });
    const { events } = structured as { readonly events: readonly { readonly kind: string; readonly text?: string }[] };
    return events.filter(({ kind }) => kind === "turn_finished").length;
  };
  await expect.poll(finished, WAIT).toBe(2);
  expect(server.requests.at(-1)?.messages.map(({ text }) => text)).toContain("Tell me when the kettle is hot."); // the same session
  await expect
    .poll(async () => (await ask("list_scheduled_tasks", {})).content, WAIT)
    .toContain("answered: The kettle is hot.");
});
