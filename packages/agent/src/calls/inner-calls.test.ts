import { createMemoryBus } from "@rockbot/bus";
import type { AgentEvent, ToolInvokeResponse } from "@rockbot/contracts";
import { innerCallId, serveTools, type ToolContext } from "@rockbot/tools";
import { expect, test } from "vitest";
import { createAgent } from "../agent/create-agent.ts";
import type { AgentPlugin } from "../plugins/agent-plugin.ts";
import { createMemoryTurnStore } from "../store/memory/memory-turn-store.ts";
import { called, said, scriptedModel } from "../test-model.ts";
import { testRequest, testTool } from "../test-turn.ts";

/** A tool of a session that makes one call of another, and asks the model about its result. */
const around = (seen: (response: ToolInvokeResponse, answer: string) => void): AgentPlugin => ({
  name: "around",
  async start() {
    return {
      tools: ({ calls }) => [
        testTool("around", async (_input, context) => {
          const callId = innerCallId(context.toolCallId);
          const response = await calls.call({ callId, name: "effect", arguments: "{}" }, context as ToolContext);
          const answer = await calls.ask(
            { id: `${callId}-ask`, parts: [{ text: response.content ?? "", isUntrusted: true }] },
            context,
          );
          seen(response, answer);
          return answer;
        }),
      ],
    };
  },
});

test("a tool of a session makes a call as the turn does, gets its result whole, and what it asks the model counts as the turn's", async () => {
  await using bus = createMemoryBus();
  const large = "x".repeat(100_000);
  const effect = testTool("effect", async (_input, { sessionId }) => ({ content: large, structured: { sessionId } }));
  await using _service = await serveTools(bus, { tools: [effect] }, { service: "tests" });
  const { model, requests } = scriptedModel([called("around"), said("short"), said("done")]);
  const seen: ToolInvokeResponse[] = [];
  const events: AgentEvent[] = [];
  await using agent = await createAgent({ bus, model })
    .use(around((response) => seen.push(response)))
    .start();
  const result = await agent.runTurn({ ...testRequest("Go."), onEvent: (event) => void events.push(event) });
  expect(result).toMatchObject({ text: "done", usage: { inputTokens: 30, outputTokens: 15 } });
  expect(seen[0]?.content).toHaveLength(large.length);
  expect(requests[1]?.tools).toBeUndefined();
  expect(requests[1]?.messages[1]?.content).toMatch(/^<untrusted-[0-9a-f]{16}>\nxxx/);
  const told = events
    .filter(({ kind }) => kind === "tool_started" || kind === "tool_finished")
    .map(({ kind, toolName }) => `${kind} ${toolName}`);
  expect(told).toEqual(["tool_started around", "tool_started effect", "tool_finished effect", "tool_finished around"]);
});

test("an agent that is cut off behind the question does not ask it again, and the call within the call is the same one", async () => {
  await using bus = createMemoryBus();
  const ids: string[] = [];
  const effect = testTool("effect", async (_input, { toolCallId }) => {
    ids.push(toolCallId);
    return "did it";
  });
  await using _service = await serveTools(bus, { tools: [effect] }, { service: "tests" });
  await using store = createMemoryTurnStore();
  const request = testRequest("Go.");
  const { model, requests } = scriptedModel([
    ({ messages, tools }) => {
      if (tools === undefined) return said("short");
      return messages.some(({ role }) => role === "tool") ? said("done") : called("around");
    },
  ]);
  const cut = Promise.withResolvers<void>();
  const limits = { leaseMs: 100 };
  const first = await createAgent({ bus, model, store, limits })
    .use({
      name: "around",
      async start(host) {
        const { tools } = await around(() => {}).start(host);
        return {
          tools: (scope) => tools?.(scope) ?? [],
          layer: () => (next) => ({
            async execute(...call) {
              const response = await next.execute(...call);
              if (call[0].toolName !== "around") return response;
              cut.resolve();
              return new Promise(() => {});
            },
          }),
        };
      },
    })
    .start();
  void first.runTurn(request).catch(() => {});
  await cut.promise;
  await first[Symbol.asyncDispose]();
  await using second = await createAgent({ bus, model, store, limits })
    .use(around(() => {}))
    .start();
  const result = await second.runTurn(request);
  expect(result).toMatchObject({ text: "done", usage: { inputTokens: 30, outputTokens: 15 } });
  expect(requests.filter(({ tools }) => tools === undefined)).toHaveLength(1);
  expect(ids).toHaveLength(1);
});
