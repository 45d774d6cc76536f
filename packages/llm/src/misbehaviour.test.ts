import { modelMisbehaviours, startModelServer } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { createModel } from "./create-model.ts";
import type { ModelAnswer, ModelMessage } from "./model.ts";
import { ModelError } from "./model-error.ts";

const tool = {
  name: "take_note",
  description: "Takes a note.",
  parameters: { type: "object", properties: { text: { type: "string" } } },
};
const question: ModelMessage = { role: "user", content: "Take a note." };

/** Answers in a conversation with each of the model's calls answered, until it calls no more, three times at most. */
async function converse(ask: (messages: readonly ModelMessage[]) => Promise<ModelAnswer>): Promise<ModelAnswer> {
  const messages = [question];
  for (let round = 0; ; round++) {
    const answer = await ask(messages);
    if (answer.toolCalls.length === 0 || round === 2) return answer;
    messages.push({
      role: "assistant",
      content: answer.text,
      toolCalls: answer.toolCalls,
      providerData: answer.providerData,
    });
    for (const { id, name } of answer.toolCalls)
      messages.push({ role: "tool", toolCallId: id, toolName: name, content: "noted" });
  }
}

const all = modelMisbehaviours({ name: tool.name, arguments: { text: "tea" } });

test("there are many ways to misbehave, each with its own name", () => {
  expect(all.length).toBeGreaterThanOrEqual(40);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
});

describe.each(["openai", "anthropic"] as const)("with a model that speaks as %s, and that", (protocol) => {
  test.each(all.filter(({ protocols }) => protocols.includes(protocol)))(
    "$name, a conversation ends in an answer or an error in words",
    async ({ script }) => {
      await using server = await startModelServer(script(), { contextTokens: 2_000_000 });
      const { url, apiKey, model: id } = server;
      const model = createModel({ url, apiKey, model: id, protocol, attempts: 1, idleMs: 200 });

      const answer = await converse((messages) => model.answer({ messages, tools: [tool] })).catch(
        (error: unknown) => error,
      );

      if (answer instanceof Error) {
        expect(answer).toBeInstanceOf(ModelError);
        expect(answer.message).toContain('model "test-model" at 127.0.0.1');
      } else expect((answer as ModelAnswer).text + JSON.stringify((answer as ModelAnswer).toolCalls)).not.toBe("");
      expect(server.requests.flatMap(({ refused }) => refused ?? [])).toEqual([]);
    },
  );
});
