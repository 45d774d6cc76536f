import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

test("backoffMs doubles its bound with each failure up to the maximum", () => {
  const almostOne = () => 0.999;
  expect([1, 2, 3, 10].map((failures) => Math.round(backoffMs(failures, { random: almostOne })))).toEqual([
    200, 400, 799, 1998,
  ]);
});

test("backoffMs waits no less than the least part of its bound", () => {
  const waits = [0, 0.5, 0.999].map((number) => backoffMs(3, { leastPart: 0.5, random: () => number }));
  expect(waits.map(Math.round)).toEqual([400, 600, 800]);
});

test("backoffMs refuses a count that is not a positive integer", () => {
  for (const failures of [0, -1, 1.5, Number.NaN]) expect(() => backoffMs(failures)).toThrow(RangeError);
});
