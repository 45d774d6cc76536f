import { expect, test } from "vitest";
import { terminalText } from "./terminal-text.ts";

test.each([
  ["a title", "a\x1b]0;owned\x07b", "ab"],
  ["colours", "\x1b[31mred\x1b[0m", "red"],
  ["a cursor that moves", "a\x1b[2J\x1b[Hb", "ab"],
  ["a sequence inside a sequence", "\x1b\x1b[0m[31mred", "[31mred"],
  ["sequences of one byte of eight bits", "a\x9b31mb\x90c\x9c", "abc"],
  ["carriage returns, bells and backspaces", "good\r\x07\x08bad\x00\x7f", "goodbad"],
  ["marks that turn text around", "invoice\u202egnp.exe", "invoicegnp.exe"],
  ["line breaks, tabs and letters of all kinds", "a\n\tü日👍", "a\n\tü日👍"],
])("a terminal does not get what could steer it: %s", (_, text, shown) => {
  expect(terminalText(text, { isTTY: true })).toBe(shown);
  expect(terminalText(text, {})).toBe(text);
});
