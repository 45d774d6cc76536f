import { createMemoryBus } from "@rockbot/bus";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { called, said, scriptedModel } from "../test-model.ts";
import { testRequest, testTool } from "../test-turn.ts";
import { createAgent } from "./create-agent.ts";

test("values that a service announces for arguments are an enum for the model, and stay the same through a turn", async () => {
  await using bus = createMemoryBus();
  const withValues = (...values: string[]) =>
    testTool("find", async () => "found", {
      readOnly: true,
      inputSchema: { type: "object", properties: { kind: { type: "string", "x-enum-now": values } } },
    });
  const listeners = new Set<() => void>();
  const provider = {
    tools: [withValues("post")],
    guides: [],
    find: () => provider.tools[0],
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  await using _service = await serveTools(bus, provider, { service: "tests" });
  await using watcher = await createToolCaller(bus, { agent: "watcher" });
  await watcher.discovered();
  const announced = () => watcher.toolsOf("watcher").find(({ name }) => name === "find")?.parametersSchema;
  const change = async () => {
    provider.tools = [withValues("post", "node")];
    for (const listener of listeners) listener();
    await expect.poll(announced).toContain("node");
    return called(["find", { kind: "other" }]);
  };
  const { model, requests } = scriptedModel([change, said("done"), said("again")]);
  await using agent = await createAgent({ bus, model }).start();
  const shown = () =>
    requests.map(({ tools = [] }) => JSON.stringify(tools.find(({ name }) => name === "find")?.parameters));
  await agent.runTurn(testRequest("one"));
  expect(shown()[0]).toBe('{"type":"object","properties":{"kind":{"type":"string","enum":["post"]}}}');
  expect(shown()[1]).toBe(shown()[0]);
  expect(requests[1]?.messages.at(-1)).toMatchObject({ content: "found" }); // a value beside the enum reached the tool
  const inNextTurn = async () => {
    await agent.runTurn(testRequest("two"));
    return shown().at(-1);
  };
  await expect.poll(inNextTurn).toContain('"enum":["post","node"]');
});
