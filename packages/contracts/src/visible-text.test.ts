import { expect, test } from "vitest";
import { visibleText } from "./visible-text.ts";

test.each([
  ["zero-width characters", "pay\u200bload\ufeff"],
  ["bidirectional marks", "pay\u202eload\u2066"],
  ["controls, of terminals too", "pay\u0007\u001bload\u009b"],
  ["tags, which spell hidden ASCII", "pay\u{e0041}load"],
  ["rows of variation selectors, which spell bytes", "pay\u{e0101}\u{e0102}load"],
  ["joiners among Latin letters", "pa\u200dy\u200clo\u200d\u200cad"],
  ["fillers", "pay\u3164\u115fload"],
  ["soft hyphens", "pay\u00adload"],
])("%s are taken out", (_, text) => {
  expect(visibleText(text)).toBe("payload");
});

test.each([
  ["lines and tabs", "a\r\n\tb\rc\u2028d", "a\n\tb\nc\nd"],
  ["other scripts", "– ü 日本 한국 العربية עברית", "– ü 日本 한국 العربية עברית"],
  ["joiners that a script needs", "می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"],
  ["pictures of several signs", "👩\u200d👩\u200d👧 ❤\ufe0f 👍🏽", "👩\u200d👩\u200d👧 ❤\ufe0f 👍🏽"],
])("%s stay", (_, text, seen) => {
  expect(visibleText(text)).toBe(seen);
});

test("a sign has one variation selector", () => {
  expect(visibleText("❤\ufe0f\ufe01\ufe02x")).toBe("❤\ufe0fx");
});
