import { expect, test } from "vitest";
import { ALICE, startTestGoogle } from "./test-google.ts";

const event = (id: string, start: string, end: string, more: object = {}) => ({
  id,
  summary: `Title of ${id}`,
  start: { dateTime: start },
  end: { dateTime: end },
  ...more,
});

test("calendar_list_events lists the events of several calendars in a time of a zone, in their order", async () => {
  await using system = await startTestGoogle();
  const calendars = system.google.accounts[ALICE]?.calendars ?? {};
  calendars["primary"]?.push(
    event("late", "2025-08-01T20:00:00Z", "2025-08-01T21:00:00Z"),
    event("before", "2025-07-31T21:00:00Z", "2025-07-31T22:00:00Z"),
  );
  calendars["team@example.com"] = [
    event("early", "2025-08-01T08:00:00Z", "2025-08-01T09:00:00Z", { location: "Room 1" }),
  ];
  const asked = {
    time_min: "2025-08-01",
    time_max: "2025-08-02T00:00:00",
    time_zone: "Europe/Berlin",
    calendar_ids: ["primary", "team@example.com"],
  };
  const listed = await system.call("calendar_list_events", asked);
  expect(listed).toMatchObject({
    structured: {
      account: ALICE,
      has_more: false,
      events: [{ id: "early", calendar_id: "team@example.com" }, { id: "late" }],
    },
    trust: { level: "untrusted", origin: `Google Calendar: ${ALICE}` },
  });
  expect(system.google.requests[0]).toContain("timeMin=2025-07-31T22%3A00%3A00Z&timeMax=2025-08-01T22%3A00%3A00Z");
  expect(await system.call("calendar_list_events", { ...asked, max_results: 1 })).toMatchObject({
    structured: { has_more: true, events: [{ id: "early" }] },
  });
  expect(await system.call("calendar_list_events", { ...asked, query: "room" })).toMatchObject({
    structured: { events: [{ id: "early" }] },
  });
  await expect(system.call("calendar_list_events", { ...asked, calendar_ids: ["../../secret"] })).rejects.toMatchObject(
    { code: "invalid_arguments" },
  );
});

test("calendar_create_event creates what calendar_get_event then reads", async () => {
  await using system = await startTestGoogle();
  const input = {
    ...{
      title: "Lunch",
      start: "2025-08-01T12:00",
      end: "2025-08-01T13:00",
      time_zone: "Europe/Berlin",
      location: "Here",
      attendees: ["bob@example.com"],
    },
    ...{ reminders: [{ method: "popup", minutes: 10 }], recurrence: ["RRULE:FREQ=WEEKLY;COUNT=3"] },
  };
  const created = await system.call("calendar_create_event", input);
  const [made] = system.google.accounts[ALICE]?.calendars["primary"] ?? [];
  expect(made).toMatchObject({
    start: { dateTime: "2025-08-01T12:00:00", timeZone: "Europe/Berlin" },
    reminders: { useDefault: false, overrides: [{ method: "popup", minutes: 10 }] },
    recurrence: ["RRULE:FREQ=WEEKLY;COUNT=3"],
  });
  expect(system.google.requests[0]).toContain("sendUpdates=all");
  const read = await system.call("calendar_get_event", { event_id: made?.id ?? "" });
  expect(read.structured).toEqual(created.structured);
  expect(read.content).toContain("bob@example.com (needsAction)");
  await system.call("calendar_create_event", { title: "Trip", start: "2025-08-01", end: "2025-08-03" });
  expect(system.google.accounts[ALICE]?.calendars["primary"]?.[1]).toMatchObject({
    start: { date: "2025-08-01" },
    end: { date: "2025-08-03" },
  });
});

test("an event of days reads as its days, with the last, and not with the day after it", async () => {
  await using system = await startTestGoogle();
  const days = (id: string, start: string, end: string) => ({
    ...event(id, "", ""),
    start: { date: start },
    end: { date: end },
  });
  system.google.accounts[ALICE]?.calendars["primary"]?.push(
    days("one", "2025-02-28", "2025-03-01"),
    days("two", "2025-12-31", "2026-01-02"),
  );
  const { content, structured } = await system.call("calendar_list_events", { time_min: "2025-01-01" });
  expect(content).toContain("- 2025-02-28, all day: Title of one (");
  expect(content).toContain("- 2025-12-31 to 2026-01-01, all day: Title of two (");
  expect(structured).toMatchObject({ events: [{ end: "2025-03-01", all_day: true }, {}] });
  expect((await system.call("calendar_get_event", { event_id: "one" })).content).toContain(
    "When: 2025-02-28, all day\n",
  );
});

test("an event that was created although Google answered 503 is found, and not created twice", async () => {
  await using system = await startTestGoogle();
  const input = { title: "Lunch", start: "2025-08-01T12:00:00Z", end: "2025-08-01T13:00:00Z" };
  system.google.faults.push({ status: 503, isCarriedOut: true });
  expect(await system.call("calendar_create_event", input)).toMatchObject({
    structured: { event: { title: "Lunch" } },
  });
  expect(system.google.accounts[ALICE]?.calendars["primary"]).toHaveLength(1);
  system.google.faults.push({ status: 503 });
  await expect(system.call("calendar_create_event", input)).rejects.toMatchObject({ code: "outcome_unknown" });
});

test("all that is wrong with times is said at once, and nothing is asked", async () => {
  await using system = await startTestGoogle();
  const create = (input: object) => system.call("calendar_create_event", { title: "x", ...input });
  await expect(create({ start: "2025-02-30", end: "tomorrow!!", time_zone: "Nowhere/City" })).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringMatching(/start: expected .*end: expected .*time_zone: expected/),
  });
  await expect(create({ start: "2025-08-01", end: "2025-08-01" })).rejects.toMatchObject({
    message: expect.stringContaining("day after the last"),
  });
  await expect(create({ start: "2025-08-01T10:00", end: "2025-08-01T11:00" })).rejects.toMatchObject({
    message: expect.stringContaining("time_zone is needed"),
  });
  await expect(create({ start: "2025-08-01", end: "2025-08-02T11:00:00Z" })).rejects.toMatchObject({
    message: expect.stringContaining("both dates"),
  });
  await expect(
    system.call("calendar_list_events", { time_min: "2025-08-02", time_max: "2025-08-01" }),
  ).rejects.toMatchObject({
    message: expect.stringContaining("time_max has to be after"),
  });
  expect(system.google.requests).toEqual([]);
});
