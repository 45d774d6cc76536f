import { expect, test } from "vitest";
import { plainText } from "./plain-text.ts";

test.each([
  ["an escape sequence", "a\x1b[2J\x07b", "a\\u001b[2J\\u0007b"],
  ["a bidirectional override", "invoice\u202egnp.exe", "invoice\\u202egnp.exe"],
  ["a carriage return", "good\rbad", "good\\rbad"],
  ["line breaks, tabs and letters of all kinds", "a\n\tü日👍", "a\n\tü日👍"],
])("what could mislead a reader is shown escaped: %s", (_, text, shown) => {
  expect(plainText(text)).toBe(shown);
});
