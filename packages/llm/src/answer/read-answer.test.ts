import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { readAnswer } from "./read-answer.ts";

test("each of many calls with one id gets an id of its own, also where another call has that", async () => {
  const ids = [...Array(5_000).fill("x"), "x-7", "x-8"] as readonly string[];
  const parts: LanguageModelV4StreamPart[] = [
    ...ids.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "a", input: "{}" }) as const),
    {
      type: "finish",
      finishReason: { unified: "tool-calls", raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
    },
  ];
  const { toolCalls } = await readAnswer(ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart>, {
    subject: "a model",
    onText() {},
    inputCharacters: () => 0,
  });
  expect(toolCalls.slice(0, 3).map(({ id }) => id)).toEqual(["x", "x-2", "x-3"]);
  expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(ids.length);
});
