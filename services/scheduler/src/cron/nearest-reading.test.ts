import { expect, test } from "vitest";
import { nearestReading } from "./nearest-reading.ts";

const at = { zone: "Europe/Berlin", from: Date.UTC(2026, 10, 25) };

test.each([
  ["@daily", "0 0 * * *"],
  ["hourly", "0 * * * *"],
  ["0 9 * *", "0 9 * * *"],
  ["0 24 * * *", "0 0 * * *"],
  ["60 * * * *", "0 * * * *"],
  ["5/15 * * * *", "5-59/15 * * * *"],
  ["0 22-2 * * *", "0 22-23,0-2 * * *"],
  ["0 9 * * 5-1", "0 9 * * 5-6,0-1"],
  ["0 9 * * Monday,Fridays", "0 9 * * mon,fri"],
  ["0 9 1,,15 * *", "0 9 1,15 * *"],
  ["0 9 * * 1-5 2026", "0 9 * * 1-5"],
  ["0 0 9 ? * MON-FRI *", "0 0 9 ? * mon-fri"],
  ["2026-12-24T18:00", "0 18 24 12 *"],
  ["2026-12-24 18:00:30", "30 0 18 24 12 *"],
  ["2026-12-24T17:00:00Z", "0 18 24 12 *"],
  ["2026-12-24T17:00:00-05:00", "0 23 24 12 *"],
  ["every 5 minutes", "*/5 * * * *"],
  ["every hour", "0 * * * *"],
  ["every 30 seconds", "*/30 * * * * *"],
  ["daily at 9:30", "30 9 * * *"],
  ["every weekday at 8am", "0 8 * * 1-5"],
  ["Every Monday at 12 pm", "0 12 * * 1"],
  ["9:00", "0 9 * * *"],
])("%j probably means %j", (text, cron) => {
  expect(nearestReading(text, at)?.cron).toBe(cron);
});

test("comes with the next three fires", () => {
  expect(nearestReading("@daily", at)?.fires.map((fire) => new Date(fire).toISOString())).toEqual([
    "2026-11-25T23:00:00.000Z",
    "2026-11-26T23:00:00.000Z",
    "2026-11-27T23:00:00.000Z",
  ]);
});

test.each([
  "",
  "soon",
  "9",
  "@reboot",
  "H 9 * * *",
  "0 0 31 2 * 2026",
  "*/90 * * * *",
  "every monday",
  "x".repeat(256),
])("%j is near to nothing", (text) => {
  expect(nearestReading(text, at)).toBeUndefined();
});
