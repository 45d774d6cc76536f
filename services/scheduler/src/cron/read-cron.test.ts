import { describe, expect, test } from "vitest";
import { CronError, readCron } from "./read-cron.ts";

/** The next fires as ISO 8601 in UTC, without seconds where these are zero. */
function fires(cron: string, zone: string, from: string, count: number): string[] {
  const times = readCron(cron, zone);
  const all: string[] = [];
  for (let at = times.next(Date.parse(from)); at !== undefined && all.length < count; at = times.next(at)) {
    all.push(new Date(at).toISOString().replace(":00.000Z", "Z").replace(".000Z", "Z"));
  }
  return all;
}

test("five fields are minutes, six begin with seconds", () => {
  expect(fires("0 9 * * 1-5", "UTC", "2026-11-27T10:00:00Z", 2)).toEqual(["2026-11-30T09:00Z", "2026-12-01T09:00Z"]);
  expect(fires("0 0 9 * * 1-5", "UTC", "2026-11-27T10:00:00Z", 1)).toEqual(["2026-11-30T09:00Z"]);
  expect(fires("30 0 9 * * *", "UTC", "2026-11-27T10:00:00Z", 1)).toEqual(["2026-11-28T09:00:30Z"]);
  expect(fires("*/15 * * * *", "UTC", "2026-11-27T10:00:00.001Z", 2)).toEqual([
    "2026-11-27T10:15Z",
    "2026-11-27T10:30Z",
  ]);
});

test("a day has to match the day of the month and the day of the week", () => {
  expect(fires("0 9 13 * 5", "UTC", "2026-01-01T00:00:00Z", 3)).toEqual([
    "2026-02-13T09:00Z",
    "2026-03-13T09:00Z",
    "2026-11-13T09:00Z",
  ]);
});

test("a time is in the zone", () => {
  expect(fires("0 9 * * *", "Asia/Kolkata", "2026-11-25T00:00:00Z", 1)).toEqual(["2026-11-25T03:30Z"]);
});

test("an expression that no day matches never fires, and has never fired", () => {
  const never = readCron("0 0 31 2 *", "UTC");
  expect(never.next(0)).toBeUndefined();
  expect(never.latest(Date.UTC(2026, 0, 1))).toBeUndefined();
});

test.each([
  ["", "it has 0 fields"],
  ["@daily", "it has 1 field"],
  ["0 9 * *", "it has 4 fields"],
  ["0 0 9 * * 1 2026", "it has 7 fields"],
  ["2026-12-01T09:00:00Z", "it has 1 field"],
  ["60 * * * *", "invalid value for minute: 60"],
  ["0 9 * * 1-5 2026", "invalid value for dayOfWeek: 2026"],
])("%j is refused: %s", (text, words) => {
  expect(() => readCron(text, "UTC")).toThrow(CronError);
  expect(() => readCron(text, "UTC")).toThrow(words);
});

test("a time zone that this process does not know is refused", () => {
  expect(() => readCron("0 9 * * *", "Mars/Phobos")).toThrow(
    new CronError('the time zone "Mars/Phobos" is not known here'),
  );
});

describe("where clocks are set forward", () => {
  test.each([
    ["Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]],
    ["Europe/Berlin", "0,30 2 * * *", "2026-03-28T12:00:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:00Z"]],
    ["America/New_York", "30 2 * * *", "2026-03-07T12:00:00Z", ["2026-03-08T07:00Z", "2026-03-09T06:30Z"]],
    ["Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00:00Z", ["2026-10-03T15:30Z", "2026-10-04T15:15Z"]],
  ])("in %s, %s fires at the first moment after the gap", (zone, cron, from, expected) => {
    expect(fires(cron, zone, from, 2)).toEqual(expected);
  });

  test("an expression with a wildcard goes on by elapsed time", () => {
    expect(fires("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:10:00Z", 4)).toEqual([
      "2026-03-29T00:30Z",
      "2026-03-29T01:00Z",
      "2026-03-29T01:30Z",
      "2026-03-29T02:00Z",
    ]);
    expect(fires("*/15 * * * *", "Australia/Lord_Howe", "2026-10-03T15:10:00Z", 3)).toEqual([
      "2026-10-03T15:15Z",
      "2026-10-03T15:30Z",
      "2026-10-03T15:45Z",
    ]);
  });
});

describe("where clocks are set back", () => {
  test.each([
    ["Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]],
    [
      "Europe/Berlin",
      "0 1-3 * * *",
      "2026-10-24T12:00:00Z",
      ["2026-10-24T23:00Z", "2026-10-25T00:00Z", "2026-10-25T02:00Z", "2026-10-26T00:00Z"],
    ],
    ["America/New_York", "30 1 * * *", "2026-10-31T12:00:00Z", ["2026-11-01T05:30Z", "2026-11-02T06:30Z"]],
    ["Australia/Lord_Howe", "45 1 * * *", "2026-04-04T12:00:00Z", ["2026-04-04T14:45Z", "2026-04-05T15:15Z"]],
  ])("in %s, %s fires at the first of two equal times only", (zone, cron, from, expected) => {
    expect(fires(cron, zone, from, expected.length)).toEqual(expected);
  });

  test("an expression with a wildcard goes on by elapsed time", () => {
    expect(fires("*/30 * * * *", "America/New_York", "2026-11-01T05:10:00Z", 4)).toEqual([
      "2026-11-01T05:30Z",
      "2026-11-01T06:00Z",
      "2026-11-01T06:30Z",
      "2026-11-01T07:00Z",
    ]);
  });
});

test("the last fire up to a moment is the one that led to it, across both edges of three zones", () => {
  for (const zone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]) {
    for (const cron of ["30 2 * * *", "0,30 1,2 * * *", "*/20 * * * *", "15 0 * * * *"]) {
      const times = readCron(cron, zone);
      for (const day of ["2026-03-07", "2026-03-28", "2026-04-04", "2026-10-03", "2026-10-24", "2026-10-31"]) {
        let before = times.next(Date.parse(day)) ?? Number.NaN;
        for (let i = 0; i < 30; i++) {
          const at = times.next(before) ?? Number.NaN;
          expect([times.latest(at), times.latest(at - 1), times.latest(at + 999)]).toEqual([at, before, at]);
          before = at;
        }
      }
    }
  }
});
