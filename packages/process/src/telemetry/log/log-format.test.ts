import { expect, test } from "vitest";
import { formatFor } from "./log-format.ts";

test("a log is text at a terminal and JSON elsewhere, unless a form is wanted", () => {
  const terminal = { isTTY: true, hasColors: () => true };

  expect(formatFor(terminal)).toBe("colours");
  expect(formatFor({ isTTY: true, hasColors: () => false })).toBe("text");
  expect(formatFor({})).toBe("json");
  expect(formatFor(terminal, "json")).toBe("json");
  expect(formatFor({}, "text")).toBe("text");
});
