import { expect, test } from "vitest";
import { printable, printableJson } from "./printable.ts";

test.each([
  ["plain text, größer ✓ 🦀", "plain text, größer ✓ 🦀"],
  ["two\r\nlines\tand a tab", "two\\r\\nlines\\tand a tab"],
  ["\u001b[2J\u0007", "\\u001b[2J\\u0007"],
  ["\u009b31m", "\\u009b31m"],
  ["invoice\u202egnp.exe", "invoice\\u202egnp.exe"],
  ["zero\u200bwidth", "zero\\u200bwidth"],
  ["half a pair \ud83e", "half a pair \\ud83e"],
  ["a tag \u{e0041}", "a tag \\udb40\\udc41"],
])("%j is printed on one line, without what moves or hides text", (text, expected) => {
  expect(printable(text)).toBe(expected);
});

test("long text is cut, also between the halves of a pair", () => {
  expect(printable("x".repeat(500), 10)).toBe(`${"x".repeat(10)}…`);
  expect(printable("xxx🦀", 4)).toBe("xxx\\ud83e…");
});

test("JSON for a terminal is the same value", () => {
  const value = { text: 'quote " and \\ \u001b\u009b\u202e\u{e0041}🦀' };
  const text = printableJson(value);
  expect(text).toMatch(/^[\x20-\x7e🦀]+$/u);
  expect(JSON.parse(text)).toEqual(value);
});
