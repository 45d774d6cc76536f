import { expect, test } from "vitest";
import { encodeData, UncarriableError } from "./encode-data.ts";
import { MAX_DATA_DEPTH } from "./parse-json.ts";

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let i = 1; i < depth; i++) value = [value];
  return value;
}

test("what JavaScript has beyond JSON is written as text, and all else as it is", () => {
  const value = {
    a: Number.POSITIVE_INFINITY,
    b: [Number.NaN, null],
    c: 9_007_199_254_740_993n,
    d: "null",
    e: new Date(0),
    f: undefined,
  };
  expect(encodeData(value)).toBe(
    '{"a":"Infinity","b":["NaN",null],"c":"9007199254740993","d":"null","e":"1970-01-01T00:00:00.000Z"}',
  );
  expect(encodeData({ a: [null, 1], ["__proto__"]: { b: 1 } })).toBe('{"a":[null,1],"__proto__":{"b":1}}');
});

test.each([
  ["refers to itself", Object.assign([] as unknown[], { 0: {} as unknown }), (value: unknown[]) => (value[0] = value)],
  [`nests deeper than ${MAX_DATA_DEPTH} levels`, nested(MAX_DATA_DEPTH + 2), undefined],
  [`nests deeper than ${MAX_DATA_DEPTH} levels`, nested(100_000), undefined],
  ["is not a JSON value", { toJSON: () => (undefined as unknown as object).toString() }, undefined],
] as const)("says of a value that cannot be carried that it %s", (why, value, change) => {
  change?.(value as unknown[]);
  expect(() => encodeData(value)).toThrow(new UncarriableError(why));
});

test("writes as many levels as data may have", () => {
  expect(encodeData(nested(MAX_DATA_DEPTH))).toHaveLength(2 * MAX_DATA_DEPTH);
});
