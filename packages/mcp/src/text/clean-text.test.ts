import { expect, test } from "vitest";
import { cleanText } from "./clean-text.ts";

test.each([
  ["zero-width characters", "pay\u200bload\ufeff"],
  ["bidirectional marks", "pay\u202eload\u2066"],
  ["controls", "pay\u0007\u001bload"],
  ["tags, which spell hidden ASCII", "pay\u{e0041}load"],
])("%s are taken out", (_, text) => {
  expect(cleanText(text, 100)).toBe("payload");
});

test("lines, tabs and other scripts stay; what is too long is cut", () => {
  expect(cleanText("a\r\n\tb – ü 日本 👍", 100)).toBe("a\n\tb – ü 日本 👍");
  expect(cleanText("x".repeat(20), 10)).toHaveLength(10);
});
