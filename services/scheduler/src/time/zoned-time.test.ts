import { expect, test } from "vitest";
import { dayOf, isoTime, zonedTime } from "./zoned-time.ts";

const AT = Date.UTC(2026, 10, 25, 23, 30);

test("a moment is shown in its zone, with the offset", () => {
  expect(zonedTime(AT, "Europe/Berlin")).toBe("Thu 2026-11-26 00:30:00 +01:00");
  expect(isoTime(AT, "Europe/Berlin")).toBe("2026-11-26T00:30:00+01:00");
  expect(dayOf(AT, "Europe/Berlin")).toBe("2026-11-26");
});

test("in a zone that this process does not know, a moment is shown in UTC, as a task may have been made by another version", () => {
  expect(zonedTime(AT, "Mars/Phobos")).toBe("Wed 2026-11-25 23:30:00 +00:00");
  expect(isoTime(AT, "Mars/Phobos")).toBe("2026-11-25T23:30:00+00:00");
});
