import { createAgent, mcpToolProxy, scheduling, serviceSearch, webTools } from "@rockbot/agent";
import { createMemoryBus } from "@rockbot/bus";
import { newId } from "@rockbot/contracts";
import { createModel } from "@rockbot/llm";
import { loadConfig } from "@rockbot/process/config";
import { configSchema as schedulerSchema, startScheduler } from "@rockbot/scheduler";
import { startModelServer, startPageServer, temporaryFolder } from "@rockbot/testing";
import { startWebTools, configSchema as webSchema } from "@rockbot/web-tools";
import { expect, test } from "vitest";

test("a program composes an agent, the web and a scheduler in one process: the model reads a page and schedules a task", async () => {
  await using pages = await startPageServer({ "/": "<title>Hours</title><main><p>The shop opens at nine.</p></main>" });
  await using server = await startModelServer([
    { toolCalls: [{ name: "web_browse", arguments: { url: `${pages.url}/` } }] },
    {
      toolCalls: [
        {
          name: "schedule_task",
          arguments: { name: "shop", cron: "0 9 * * *", description: "Say that the shop opens." },
        },
      ],
    },
    { text: "It opens at nine. I will tell you." },
  ]);
  using folder = temporaryFolder();
  const web = loadConfig(webSchema, { env: { ALLOW_ADDRESSES: `127.0.0.1:${pages.port}` } });
  const schedules = loadConfig(schedulerSchema, {
    env: { SCHEDULES_FILE: `${folder.path}/schedules.json`, TIMEZONE: "UTC" },
  });
  const { url, apiKey, model: name } = server;
  await using bus = createMemoryBus();
  await using agent = await createAgent({ bus, model: createModel({ url, apiKey, model: name }) })
    .use(webTools((own, parts) => startWebTools(own, web, { service: "web-tools", ...parts })))
    .use(mcpToolProxy())
    .use(scheduling((own, parts) => startScheduler(own, schedules, { service: "scheduler", ...parts })))
    .use(serviceSearch())
    .start();

  const { text, finish } = await agent.runTurn({
    caller: "agent",
    sessionId: "monday",
    turnId: newId(),
    message: "When does the shop open? Tell me every day.",
    signal: new AbortController().signal,
    deadline: performance.now() + 60_000,
  });

  expect({ text, finish }).toEqual({ text: "It opens at nine. I will tell you.", finish: "stop" });
  const results = server.requests
    .at(-1)
    ?.messages.flatMap(({ role, text: result }) => (role === "tool" ? [result] : []));
  expect(results).toEqual([expect.stringContaining("The shop opens at nine."), expect.stringMatching(/shop/)]);
  expect((await agent.caller.call("list_scheduled_tasks", {}, { sessionId: "session/monday" })).content).toContain(
    "| shop | this one | 0 9 * * * |",
  );
});
