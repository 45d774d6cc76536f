import { expect, test } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

const now = () => Date.parse("2026-11-21T12:00:00Z");

test.each([
  ["120", 120_000],
  ["0", 0],
  ["Sat, 21 Nov 2026 12:00:30 GMT", 30_000],
  ["Sat, 21 Nov 2026 11:00:00 GMT", 0],
  ["999999999", 24 * 3600 * 1000],
  ["soon", undefined],
  ["-1x", undefined],
  ["-5", undefined],
  ["-3600", undefined],
  ["1.5", undefined],
  ["1e9", undefined],
  ["99999999999", undefined],
  ["2030-01-01", undefined],
  [undefined, undefined],
])("Retry-After %j means %j ms", (header, ms) => {
  expect(retryAfterMs(header, now)).toBe(ms);
});
