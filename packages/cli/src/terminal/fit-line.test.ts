import { expect, test } from "vitest";
import { fitLine } from "./fit-line.ts";

test.each([
  ["fits", "12345", "12345"],
  ["too long", "123456", "1234…"],
  ["wide characters that fit", "日本x", "日本x"],
  ["wide characters that do not", "日本語", "日本…"],
  ["a letter of several code points", "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", `${"e\u0301".repeat(4)}…`],
])("a line is cut to the columns of a terminal, and whole in a pipe: %s", (_, text, shown) => {
  expect(fitLine(text, { columns: 5 })).toBe(shown);
  expect(fitLine(text, {})).toBe(text);
  expect(fitLine(text, { columns: 0 })).toBe(text);
});
