import { type ModelScript, type ModelServer, type StartModelServerOptions, startModelServer } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { type CreateModelOptions, createModel } from "./create-model.ts";
import type { ModelRequest } from "./model.ts";

const PROTOCOLS = ["openai", "anthropic"] as const;
const question: ModelRequest = {
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "How are you?" },
  ],
};
const tools = [{ name: "web_browse", description: "Read a page.", parameters: { type: "object", required: ["url"], properties: { url: { type: "string" } } } }];

async function start(script: ModelScript, options: Partial<CreateModelOptions> & StartModelServerOptions = {}) {
  const server: ModelServer = await startModelServer(script, options);
  const model = createModel({ url: server.url, model: server.model, apiKey: server.apiKey, retryMs: 2_000, ...options });
  return { server, model, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe.each(PROTOCOLS)("a model that speaks as %s", (protocol) => {
  test("answers, and shows the text as it comes", async () => {
    await using one = await start([{ text: "Very well, thank you. And how are you yourself?" }], { protocol });
    const shown: string[] = [];

    const answer = await one.model.answer({ ...question, onText: (delta) => shown.push(delta) });

    expect(answer).toMatchObject({ text: "Very well, thank you. And how are you yourself?", toolCalls: [], finish: "stop" });
    expect(answer.usage).toMatchObject({ inputTokens: one.server.requests[0]?.inputTokens, cachedInputTokens: 0 });
    expect(shown.length).toBeGreaterThan(1);
    expect(shown.join("")).toBe(answer.text);
    expect(one.server.requests[0]?.messages.map(({ role, text }) => [role, text])).toEqual([
      ["system", "Be brief."],
      ["user", "How are you?"],
    ]);
  });

  test("calls several tools at once, with arguments as it wrote them", async () => {
    const broken = '{"url": "https://example.com/", ';
    await using one = await start(
      [
        {
          text: "I look.",
          toolCalls: [
            { id: "a-1", name: "web_browse", arguments: { url: "x" } },
            { id: "a-2", name: "web_browse", arguments: broken },
          ],
        },
        { text: "Done." },
      ],
      { protocol },
    );

    const answer = await one.model.answer({ ...question, tools });

    expect(answer.finish).toBe("tool_calls");
    expect(answer.toolCalls).toEqual([
      { id: "a-1", name: "web_browse", arguments: '{"url":"x"}' },
      { id: "a-2", name: "web_browse", arguments: broken },
    ]);

    const { text: content, toolCalls } = answer;
    const results = toolCalls.map(({ id, name }) => ({ role: "tool" as const, toolCallId: id, toolName: name, content: `result of ${id}` }));
    const second = await one.model.answer({ ...question, tools, messages: [...question.messages, { role: "assistant", content, toolCalls }, ...results] });
    expect(second.text).toBe("Done.");
    expect(one.server.requests[1]?.messages.slice(2)).toMatchObject([
      { role: "assistant", text: "I look.", toolCalls: [{ id: "a-1" }, { id: "a-2", arguments: JSON.stringify({ unreadable_arguments: broken }) }] },
      { role: "tool", toolCallId: "a-1", text: "result of a-1" },
      { role: "tool", toolCallId: "a-2", text: "result of a-2" },
    ]);
  });
});
