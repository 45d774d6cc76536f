import { createMemoryBus } from "@rockbot/bus";
import { type AgentEvent, newId, type ToolDefinition } from "@rockbot/contracts";
import { defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import type { Model, ModelAnswer, ModelRequest } from "../model.ts";
import { createAgent } from "./create-agent.ts";

const usage = { inputTokens: 1, outputTokens: 1 };
const said = (text: string): ModelAnswer => ({ text, toolCalls: [], finish: "stop", usage });
const calls = (...names: string[]): ModelAnswer => ({
  text: "",
  toolCalls: names.map((name, index) => ({ id: `call_${index}`, name, arguments: "{}" })),
  finish: "tool_calls",
  usage,
});
function scripted(...answers: ((request: ModelRequest) => ModelAnswer)[]) {
  const requests: ModelRequest[] = [];
  const model: Model = {
    id: "scripted",
    behavior: { chunkingThreshold: 64_000, contextTokens: 100_000, maxIterations: 12, usesTextToolCalls: false, nudgesOnProse: false },
    async answer(request) {
      requests.push(request);
      const next = answers[requests.length - 1];
      if (next === undefined) throw new Error("the script is over");
      return next(request);
    },
  };
  return { model, requests };
}

const definition: ToolDefinition = {
  name: "time_now",
  description: "Say what time it is.",
  inputSchema: { type: "object" },
  readOnly: true,
  idempotent: true,
  validateInput: ((value: unknown) => typeof value === "object") as ToolDefinition["validateInput"],
};

test("a turn calls the tools that are on the bus, and answers", async () => {
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, { tools: [defineTool(definition, async () => "12:00")] }, { service: "clock" });
  const { model, requests } = scripted(
    () => calls("time_now"),
    (request) => said(`It is ${request.messages.at(-1)?.content}.`),
  );
  await using agent = await createAgent({ bus, model }).start();
  const events: AgentEvent[] = [];
  const request = {
    caller: "agent",
    sessionId: "s",
    turnId: newId(),
    message: "What time is it?",
    signal: new AbortController().signal,
    deadline: performance.now() + 60_000,
  };
  const result = await agent.runTurn({ ...request, onEvent: (event) => events.push(event) });

  expect(result).toMatchObject({ text: "It is 12:00.", finish: "stop" });
  expect(requests[0]?.tools?.map(({ name }) => name)).toContain("time_now");
  expect(events.map(({ kind }) => kind)).toEqual(["turn_started", "tool_started", "tool_finished", "turn_finished"]);
  expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  expect(await agent.runTurn(request)).toEqual(result);
  expect(requests).toHaveLength(2);
  expect((await agent.history("agent", "s")).map(({ content }) => content)).toEqual(["What time is it?", "It is 12:00."]);
});
