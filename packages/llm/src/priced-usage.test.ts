import { expect, test } from "vitest";
import { pricedUsage } from "./priced-usage.ts";

const usage = { inputTokens: 1_000_000, outputTokens: 100_000, cachedInputTokens: 400_000 };

test("an answer costs its input, its cached input and its output, each by its own price", () => {
  expect(pricedUsage(usage, { input: 3, output: 15, cachedInput: 0.3 }).cost).toBeCloseTo(
    0.6 * 3 + 0.4 * 0.3 + 0.1 * 15,
  );
  expect(pricedUsage(usage, { input: 3, output: 15 }).cost).toBeCloseTo(3 + 1.5);
  expect(pricedUsage(usage, { input: 0, output: 0 })).toMatchObject({ cost: 0 });
});

test("tokens of a model without a price are counted as such, and are not free", () => {
  expect(pricedUsage(usage, undefined)).toEqual({ ...usage, unpricedTokens: 1_100_000 });
});
