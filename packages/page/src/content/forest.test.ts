import { expect, test } from "vitest";
import { chooseBlocks } from "./choose-blocks.ts";
import { packForest, readForest } from "./forest.ts";

test("a packed forest gives what the forest gives", () => {
  const rate = readForest(
    packForest({
      bias: -1,
      trees: [
        {
          column: 1,
          limit: 0.5,
          low: { column: 0, limit: 2, low: { value: -1 }, high: { value: 1 } },
          high: { value: 3 },
        },
        { value: 0.25 },
      ],
    }),
  );
  const logistic = (sum: number) => 1 / (1 + Math.exp(-sum));

  expect(rate(Float32Array.of(2, 0.5))).toBeCloseTo(logistic(-1.75), 3);
  expect(rate(Float32Array.of(3, 0))).toBeCloseTo(logistic(0.25), 3);
  expect(rate(Float32Array.of(0, 1))).toBeCloseTo(logistic(2.25), 3);
});

test("the blocks that are kept are those with which F1 is expected to be best", () => {
  expect(chooseBlocks([0.95, 0.9, 0.1, 0.05], [100, 50, 100, 300])).toEqual([true, true, false, false]);
  // Where little is sure, more is kept.
  expect(chooseBlocks([0.4, 0.35, 0.3], [10, 10, 10])).toEqual([true, true, true]);
  expect(chooseBlocks([], [])).toEqual([]);
});
