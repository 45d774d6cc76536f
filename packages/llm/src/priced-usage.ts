import type { ModelPrice } from "./behavior/model-behavior.ts";
import type { ModelUsage } from "./model.ts";

const MILLION = 1_000_000;

/** The same with its cost, or with all tokens as unpriced ones if nobody knows the price. */
export function pricedUsage(usage: ModelUsage, price: ModelPrice | undefined): ModelUsage {
  const { inputTokens, outputTokens, cachedInputTokens = 0 } = usage;
  if (price === undefined) return { ...usage, unpricedTokens: inputTokens + outputTokens };
  const { input, output, cachedInput = input } = price;
  return {
    ...usage,
    cost:
      ((inputTokens - cachedInputTokens) * input + cachedInputTokens * cachedInput + outputTokens * output) / MILLION,
  };
}
