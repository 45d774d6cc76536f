import { expect, test } from "vitest";
import { yamlValue } from "./yaml-value.ts";

test("what two aliases name is there twice", () => {
  const named = ["x"];
  expect(yamlValue({ toJS: () => ({ a: named, b: { c: named } }) })).toEqual({ value: { a: ["x"], b: { c: ["x"] } } });
});

test("an alias that leads into itself is a fault", () => {
  const circle: { b?: unknown } = {};
  circle.b = [{ c: circle }];
  expect(yamlValue({ toJS: () => ({ a: circle }) })).toEqual({
    value: undefined,
    fault: "it has an alias of what the alias is a part of",
  });
});
