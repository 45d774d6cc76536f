import { type Bus, createMemoryBus, type Logger, silentLogger } from "@rockbot/bus";
import { createPolicy, defaultPolicySource, holdPolicy, readPolicy } from "@rockbot/policy";
import { serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { createAgent } from "../agent/create-agent.ts";
import { called, said, scriptedModel } from "../test-model.ts";
import { testRequest, testTool } from "../test-turn.ts";
import { localScriptRunner, scheduling, webTools } from "./tool-service.ts";

const browse = testTool("web_browse", async () => "a page", { readOnly: true });
const schedule = testTool("schedule_task", async () => "scheduled");
const script = testTool("execute_python_script", async () => "42");

/** Tells whether anybody serves the tools of a service. */
const isServed = async (bus: Bus, service: string): Promise<boolean> =>
  ((await bus.inspect(service))?.consumers ?? 0) > 0;

test("an agent is composed of services of its own: tools, and functions that start them, which end with it", async () => {
  await using bus = createMemoryBus();
  const { document } = await readPolicy("callers: { agent: { allow: ['web_*', execute_python_script] } }", "test");
  const policy = holdPolicy(createPolicy({ ...defaultPolicySource(), document }));
  const { model, requests } = scriptedModel([
    called("web_browse", "execute_python_script", "schedule_task"),
    said("done"),
  ]);
  {
    await using agent = await createAgent({ bus, model, policy })
      .use(webTools({ tools: [browse] }))
      .use(
        localScriptRunner((own, parts) =>
          serveTools(own, { tools: [script] }, { service: "scripts-manager", ...parts }),
        ),
      )
      .use(scheduling({ tools: [schedule] }))
      .start();
    expect(await agent.runTurn(testRequest("Go."))).toMatchObject({ text: "done" });
    expect(requests[1]?.messages.slice(-3).map(({ content }) => content)).toEqual([
      "a page",
      "42",
      expect.stringMatching(/^(denied|tool_not_found): /),
    ]);
    expect(
      await Promise.all(["web-tools", "scripts-manager", "scheduler"].map((service) => isServed(bus, service))),
    ).toEqual([true, true, true]);
  }
  expect(
    await Promise.all(["web-tools", "scripts-manager", "scheduler"].map((service) => isServed(bus, service))),
  ).toEqual([false, false, false]);
});

test("a service elsewhere may come after the agent, which says that it is not there yet", async () => {
  await using bus = createMemoryBus();
  const lines: unknown[] = [];
  const log: Logger = { ...silentLogger, info: (fields: object, message?: string) => lines.push([fields, message]) };
  const { model, requests } = scriptedModel([said("none"), said("some")]);
  await using agent = await createAgent({ bus, model, log }).use(webTools()).start();
  await agent.runTurn(testRequest("Go."));
  await using _late = await serveTools(bus, { tools: [browse] }, { service: "web-tools" });
  await expect.poll(() => agent.caller.tools.getExecutor("web_browse")).toBeDefined();
  await agent.runTurn(testRequest("Go."));
  expect(lines).toContainEqual([{ service: "web-tools" }, expect.stringContaining("is not there yet")]);
  expect(requests.map(({ tools = [] }) => tools.some(({ name }) => name === "web_browse"))).toEqual([false, true]);
});
