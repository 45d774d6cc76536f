import { expect, test } from "vitest";
import { readCron } from "./read-cron.ts";
import { tooCloseFires } from "./shortest-gap.ts";

const MINUTE = 60_000;
const gap = (cron: string, leastMs: number, zone = "UTC") => {
  const found = tooCloseFires(readCron(cron, zone), { from: Date.UTC(2026, 0, 1, 12), leastMs });
  return found === undefined ? undefined : found[1] - found[0];
};

test.each([
  ["* * * * *", MINUTE, undefined],
  ["* * * * * *", MINUTE, 1_000],
  ["0,30 0 9 1 1 *", MINUTE, 30_000], // once a year
  ["59 59 9 * * *", MINUTE, undefined],
  ["0,59 0,59 9,10 * * *", MINUTE, 59_000],
  ["0 * * * *", 60 * MINUTE, undefined],
  ["0,55 0,23 1,31 * *", 60 * MINUTE, 55 * MINUTE],
  ["55,5 0,23 1,2 1 *", 30 * MINUTE, 10 * MINUTE], // across midnight, once a year
  ["59,0 0,23 1,28 * *", 5 * MINUTE, MINUTE], // across the end of February
])("the fires of %s have to be %d ms apart: %s", (cron, leastMs, expected) => {
  expect(gap(cron, leastMs)).toBe(expected);
});
