import type { ModelUsage } from "@rockbot/llm";

/** Both together. What neither says is left out. */
export function usageSum(one: ModelUsage, other: ModelUsage): ModelUsage {
  const sum = (field: "cachedInputTokens" | "cost" | "unpricedTokens") => {
    const [a, b] = [one[field], other[field]];
    return a === undefined && b === undefined ? {} : { [field]: (a ?? 0) + (b ?? 0) };
  };
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...sum("cachedInputTokens"),
    ...sum("cost"),
    ...sum("unpricedTokens"),
  };
}
