import { expect, test } from "vitest";
import { behaviorOf } from "./behavior-of.ts";

test("an unknown model gets what most can do, and is nudged", () => {
  expect(behaviorOf("new-model")).toEqual({
    chunkingThreshold: 64_000,
    contextTokens: 128_000,
    maxIterations: 12,
    usesTextToolCalls: false,
    nudgesOnProse: true,
    returnsReasoning: false,
  });
});

test("an entry of a model's own is not nudged unless it says so", () => {
  expect(behaviorOf("new-model", { new: { maxIterations: 3 } })).toMatchObject({
    maxIterations: 3,
    nudgesOnProse: false,
  });
  expect(behaviorOf("new-model", { new: { nudgesOnProse: true } })).toMatchObject({ nudgesOnProse: true });
});

test("exactly the name comes first, then the longest prefix, ignoring case", () => {
  const own = {
    big: { maxIterations: 1 },
    "Big-Model": { maxIterations: 2 },
    "big-model-7": { maxIterations: 3 },
    "BIG-MODEL-7": { maxIterations: 4 },
  };

  expect(behaviorOf("big-model-7", own).maxIterations).toBe(3);
  expect(behaviorOf("BIG-MODEL-7", own).maxIterations).toBe(4);
  expect(behaviorOf("BIG-MODEL-70", { ...own, "big-model-70-turbo": { maxIterations: 9 } }).maxIterations).toBe(3);
  expect(behaviorOf("big-model-6", own).maxIterations).toBe(2);
  expect(behaviorOf("bigger", own).maxIterations).toBe(1);
  expect(behaviorOf("ig", own).maxIterations).toBe(12);
});

test("a name after a maker's is found with and without it", () => {
  expect(behaviorOf("anthropic/claude-sonnet-4.5")).toMatchObject({ contextTokens: 200_000, maxIterations: 25 });
  expect(behaviorOf("openrouter/openai/gpt-4.1-mini")).toMatchObject({ contextTokens: 1_047_576 });
  expect(behaviorOf("maker/model", { "maker/": { maxIterations: 7 }, model: { maxIterations: 8 } }).maxIterations).toBe(
    7,
  );
});

test("what is said goes over what is known, field by field", () => {
  expect(
    behaviorOf("deepseek-chat", { deepseek: { usesTextToolCalls: true, systemText: "Answer in English." } }),
  ).toMatchObject({
    usesTextToolCalls: true,
    systemText: "Answer in English.",
    nudgesOnProse: true,
    returnsReasoning: true,
  });
});

test.each([
  ["gpt-4", {}, undefined, 8_192],
  ["qwen3:8b", {}, 4_096, 4_096],
  ["qwen3:8b", { qwen3: { chunkingThreshold: 9_000 } }, 4_096, 9_000],
  ["claude-sonnet-4.5", {}, undefined, 64_000],
])(
  "a result of %s that is no small part of its window is read in chunks, unless somebody says otherwise",
  (model, own, window, threshold) => {
    expect(behaviorOf(model, own, window).chunkingThreshold).toBe(threshold);
  },
);

test("names of JavaScript are no entries", () => {
  expect(behaviorOf("constructor")).toEqual(behaviorOf("new-model"));
  expect(behaviorOf("__proto__")).toEqual(behaviorOf("new-model"));
});
