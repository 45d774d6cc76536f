import { startModelServer } from "@rockbot/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createModel } from "../create-model.ts";
import type { ModelMessage } from "../model.ts";
import { pairToolMessages } from "./pair-tool-messages.ts";

const id = fc.constantFrom("a", "b", "call:1", "x".repeat(70), "", "é");
const content = fc.constantFrom("", " ", "text", "\n", "😀");
const args = fc.constantFrom("", "{}", '{"a":1}', "[1]", "{", '"text"', '{"__proto__":{}}', "null", "{}{}");
const name = fc.constantFrom("web_browse", "web browse", "", "é".repeat(80), "unknown");
const message: fc.Arbitrary<ModelMessage> = fc.oneof(
  fc.record({ role: fc.constantFrom("system", "user"), content }),
  fc.record({
    role: fc.constant("assistant"),
    content,
    toolCalls: fc.array(fc.record({ id, name, arguments: args }), { maxLength: 3 }),
  }),
  fc.record({ role: fc.constant("tool"), content, toolCallId: id, toolName: name, isError: fc.boolean() }),
);
const tools = [{ name: "web_browse", description: "Read a page.", parameters: { type: "object" } }];

test("any messages make a request that both protocols take", async () => {
  await using server = await startModelServer(() => ({ text: "Yes." }));
  const models = (["openai", "anthropic"] as const).map((protocol) => {
    return createModel({ url: server.url, apiKey: server.apiKey, model: server.model, protocol, attempts: 1 });
  });
  const ask = async (messages: readonly ModelMessage[]): Promise<void> => {
    for (const model of models) await model.answer({ messages, tools });
  };
  await fc.assert(fc.asyncProperty(fc.array(message, { maxLength: 12 }), ask), { numRuns: 60 });
});

test("each of two calls with one id keeps its own result", () => {
  const call = { id: "same", name: "web_browse", arguments: "{}" };
  const result = (text: string): ModelMessage => ({
    role: "tool",
    toolCallId: "same",
    toolName: "web_browse",
    content: text,
  });
  const messages: ModelMessage[] = [
    { role: "assistant", content: "", toolCalls: [call, call] },
    result("first"),
    result("second"),
    { role: "user", content: "!" },
  ];

  const [assistant, ...rest] = pairToolMessages(messages, "anthropic");
  const ids = assistant?.role === "assistant" ? assistant.toolCalls?.map((sent) => sent.id) : [];

  expect(new Set(ids).size).toBe(2);
  expect(rest).toMatchObject([
    { content: "first", toolCallId: ids?.[0] },
    { content: "second", toolCallId: ids?.[1] },
    { role: "user" },
  ]);
});
