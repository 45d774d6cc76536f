import { expect, test } from "vitest";
import type { WispCondition } from "../pipeline/wisp.ts";
import { holds } from "./step-values.ts";

const equal = (a: unknown, b: unknown) => holds({ value: a, is: "equal", to: b }, a, b);

test("of two texts each sign counts, and a number may be written as a text", () => {
  expect([equal("1.10", "1.1"), equal("9007199254740993", "9007199254740992"), equal("0x10", "16")]).toEqual([
    false,
    false,
    false,
  ]);
  expect([equal(16, "16"), equal("1.50", 1.5), equal("a", "a")]).toEqual([true, true, true]);
});

test("the order of properties makes no difference, that of a list does", () => {
  expect([
    equal({ a: 1, b: [2] }, { b: [2], a: 1 }),
    equal([1, 2], [2, 1]),
    equal(null, null),
    equal(null, undefined),
  ]).toEqual([true, false, true, false]);
});

test.each<readonly [value: unknown, to: unknown, isIn: boolean]>([
  ["room 12", 12, true],
  ["room 12", "12", true],
  ["is null", null, false],
  ["[object Object]", { a: 1 }, false],
  ["text", "", false],
  [[{ a: 1, b: 2 }], { b: 2, a: 1 }, true],
  [["1.10"], "1.1", false],
])("whether %j contains %j", (value, to, isIn) => {
  const condition: WispCondition = { value, is: "contains", to };
  expect(holds(condition, value, to)).toBe(isIn);
});
