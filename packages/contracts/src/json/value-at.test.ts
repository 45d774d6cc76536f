import { expect, test } from "vitest";
import { valueAt } from "./value-at.ts";

test.each([
  ["", { "a/b": [{ "~": 1 }] }],
  ["/a~1b/0/~0", 1],
  ["/a~1b/1", undefined],
  ["/toString", undefined],
])("the pointer %j leads to own properties only", (pointer, value) => {
  expect(valueAt({ "a/b": [{ "~": 1 }] }, pointer)).toEqual(value);
});
