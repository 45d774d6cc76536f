import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_DATA_DEPTH, MAX_JSON_DEPTH, parseArguments, parseData, parseJson } from "./parse-json.ts";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

test.each([
  [parseJson, MAX_JSON_DEPTH],
  [parseArguments, MAX_JSON_DEPTH],
  [parseData, MAX_DATA_DEPTH],
])("%o takes values of %d levels and no more", (parse, depth) => {
  expect(parse(nested(depth)).ok).toBe(true);
  for (const more of [depth + 2, 100_000])
    expect(parse(nested(more))).toMatchObject({ ok: false, fault: { reason: "too_deep" } });
});

test.each([
  '{"constructor":"a builder","prototype":1}',
  '{"a":{"a":{"a":"\\"a\\":"}},"b":["a","a",":"],"c":"\\\\"}',
  '{"\\"":1,"\\\\":2,"\\\\\\"":3 , "x" \n: "y" }',
  "[]",
  '"a:b"',
])("takes %s, in which no key stands twice", (text) => {
  expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) as unknown });
});

test("finds each key that stands twice, and none that does not, in 10 000 texts", () => {
  // None begins with what is escaped: V8 13.6 reads the key `"` as the key `\\` once it has read one of these after the
  // same others.
  const key = fc.constantFrom("a", "b", "", 'a"b', "a\\\\", ":x", "\u2028", "constructor");
  const leaf = fc.oneof(fc.string(), fc.constantFrom('"a":', "\\", '\\"'), fc.integer(), fc.constant(null));
  type Tree = readonly (readonly [string, unknown])[];
  const { tree } = fc.letrec<{ tree: Tree; node: unknown }>((tie) => ({
    tree: fc.array(fc.tuple(key, tie("node")), { maxLength: 4 }),
    node: fc.oneof({ depthSize: "small", withCrossShrink: true }, leaf, tie("tree")),
  }));
  const isTree = (value: unknown): value is Tree => Array.isArray(value);
  const write = (value: unknown): string =>
    isTree(value)
      ? `{${value.map(([name, inner]) => `${JSON.stringify(name)} :${write(inner)}`).join(",")}}`
      : JSON.stringify(value);
  const hasTwice = (value: unknown): boolean =>
    isTree(value) &&
    (new Set(value.map(([name]) => name)).size < value.length || value.some(([, inner]) => hasTwice(inner)));
  fc.assert(
    fc.property(tree, (value) => {
      expect(parseJson(write(value)).ok).toBe(!hasTwice(value));
    }),
    { numRuns: 10_000 },
  );
});

test.each([
  ['{"__proto__":{"x":1}}', "__proto__"],
  ['{"constructor":{"prototype":{"x":1}}}', "constructor"],
])("data may have the key in %s, which is a property of its object's own", (text, key) => {
  const parsed = parseData(text);
  if (!parsed.ok) throw new Error(parsed.fault.message);
  expect(Object.keys(parsed.value as object)).toEqual([key]);
  expect(Object.getPrototypeOf(parsed.value)).toBe(Object.prototype);
  expect(JSON.stringify(parsed.value)).toBe(text);
  expect(parseJson(text)).toMatchObject({ ok: false, fault: { reason: "forbidden_key" } });
});

test.each([
  "1e999",
  "-1e309",
  "9007199254740993",
  "-9007199254740993",
  "18446744073709551616",
  "1e-999",
  `0.${"0".repeat(400)}1`,
  "1".repeat(400),
])("the number %.40s, which JavaScript changes, is text in data and a fault in arguments", (literal) => {
  for (const [before, after] of [
    ["", ""],
    ["[1,", ",2]"],
    ['{"a b":', ',"c":"1e999 9007199254740993"}'],
    ['[\n  "\\"",\n  ', "\n]"],
  ]) {
    expect(parseData(before + literal + after)).toEqual({
      ok: true,
      value: JSON.parse(`${before}"${literal}"${after}`) as unknown,
    });
    expect(parseArguments(before + literal + after)).toMatchObject({ ok: false, fault: { reason: "inexact_number" } });
  }
});

test.each([
  "0",
  "-0",
  "1e3",
  "1E+21",
  "9007199254740992",
  "0.1000000000000000055511151231257827",
  "12345678901234567.25",
  "0e-999",
  "5e-324",
  "1.7976931348623157e308",
])("the number %s stays one", (literal) => {
  for (const parse of [parseData, parseArguments])
    expect(parse(`{"a":${literal}}`)).toEqual({ ok: true, value: { a: Number(literal) } });
});

test("every number of JSON arrives as itself or as the text of its digits, in 10 000 texts", () => {
  const number = fc.oneof(
    fc.double().filter(Number.isFinite).map(String),
    fc.bigInt().map(String),
    fc
      .tuple(fc.bigInt({ min: 0n }), fc.integer({ min: -400, max: 400 }))
      .map(([digits, exponent]) => `${digits}e${exponent}`),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), number), { maxLength: 5 }), (entries) => {
      const parsed = parseData(`[${entries.map(([text, literal]) => `${JSON.stringify(text)},${literal}`).join(",")}]`);
      if (!parsed.ok) throw new Error(parsed.fault.message);
      const values = parsed.value as unknown[];
      entries.forEach(([text, literal], index) => {
        expect(values[2 * index]).toBe(text);
        const value = values[2 * index + 1];
        if (typeof value === "string") expect(value).toBe(literal);
        else expect(JSON.stringify(value)).toBe(/^-?\d+$/.test(literal) ? literal : JSON.stringify(Number(literal)));
      });
    }),
    { numRuns: 10_000 },
  );
});
