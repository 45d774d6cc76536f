import { canonicalJson } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { indented } from "./indented.ts";

test("JSON over several lines is the same JSON, whatever is in its texts", () => {
  for (const value of [{ 'a"{': ["\\", '\\"]', "\u202e,:", [[], {}]], "": { b: [null, true, -1.5e-7] } }, [], "x", 7])
    expect(JSON.parse(indented(canonicalJson(value)))).toEqual(value);
  expect(indented('{"a":[1,{}],"b":"x,{y}:\\"z"}')).toBe('{\n  "a": [\n    1,\n    {}\n  ],\n  "b": "x,{y}:\\"z"\n}');
});

test("long numbers and equal keys stay as they are, and what is not JSON loses nothing", () => {
  expect(indented('{"a":12345678901234567890,"a":1.0}')).toBe('{\n  "a": 12345678901234567890,\n  "a": 1.0\n}');
  for (const text of ['"', "}}]", "[".repeat(100_000), `"${"\\".repeat(99_999)}`])
    expect(indented(text).replaceAll(/\s/g, "")).toBe(text);
});
