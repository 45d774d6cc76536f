import { isRecord } from "@rockbot/base";
import { saidBy, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { AccountApi, GoogleApi } from "../api/google-api.ts";
import { calendarTime, instantOf, isTimeZone, timeFault, zoneFault } from "../events/calendar-time.ts";
import { type EventFacts, eventFacts, eventLine } from "../events/event-facts.ts";

const MAX_PAGES = 10;

/** `calendar_list_events`: the events of some calendars in a time, in their order. */
export function calendarListEvents(api: GoogleApi): Tool {
  return defineTool(
    tools.calendarListEvents,
    async (
      { time_min, time_max, query, calendar_ids = ["primary"], time_zone, max_results = 50 },
      { caller, signal },
    ) => {
      const range = rangeOf({ time_min, time_max, time_zone });
      const calendar = await api.of(caller, "calendar");
      const asked = { ...range, q: query, timeZone: time_zone, singleEvents: "true", orderBy: "startTime" };
      const found = await Promise.all(calendar_ids.map((id) => eventsOf(calendar, id, asked, max_results + 1, signal)));
      const all = found.flat().sort((a, b) => Date.parse(a.start) - Date.parse(b.start));
      const events = all.slice(0, max_results);
      const isCut = all.length > events.length;
      const lines = events.length === 0 ? ["There is no event."] : events.map(eventLine);
      return {
        content: [
          `Events of ${calendar.account}:`,
          "",
          ...lines,
          ...(isCut ? ["", "There are more: ask for a shorter time."] : []),
        ].join("\n"),
        structured: { account: calendar.account, events, has_more: isCut },
        trust: saidBy(calendar.origin),
      };
    },
  );
}

interface Range {
  readonly time_min?: string | undefined;
  readonly time_max?: string | undefined;
  readonly time_zone?: string | undefined;
}

/** @throws {ToolError} `invalid_arguments` with all faults at once */
function rangeOf({ time_min, time_max, time_zone = "UTC" }: Range): {
  readonly timeMin: string;
  readonly timeMax: string | undefined;
} {
  const [from, to] = [time_min, time_max].map((text) => (text === undefined ? undefined : calendarTime(text)));
  const isZone = isTimeZone(time_zone);
  const timeMin = from === undefined || !isZone ? new Date().toISOString() : instantOf(from, time_zone);
  const timeMax = to === undefined || !isZone ? undefined : instantOf(to, time_zone);
  const faults = [
    ...(time_min !== undefined && from === undefined ? [timeFault("time_min", time_min)] : []),
    ...(time_max !== undefined && to === undefined ? [timeFault("time_max", time_max)] : []),
    ...(isZone ? [] : [zoneFault(time_zone)]),
    ...(timeMax !== undefined && Date.parse(timeMin) >= Date.parse(timeMax)
      ? ["time_max has to be after time_min, which is now when left out"]
      : []),
  ];
  if (faults.length > 0)
    throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot list events: ${faults.join("; ")}.`);
  return { timeMin, timeMax };
}

type Query = Readonly<Record<string, string | undefined>>;

async function eventsOf(
  calendar: AccountApi,
  id: string,
  query: Query,
  most: number,
  signal: AbortSignal,
): Promise<EventFacts[]> {
  const events: EventFacts[] = [];
  let pageToken: string | undefined;
  for (let pages = 0; pages < MAX_PAGES && events.length < most; pages++) {
    const request = {
      query: { ...query, maxResults: String(most - events.length), pageToken },
      signal,
      what: `list events of the calendar ${id}`,
    };
    const page = await calendar.ask([...CALENDARS, id, "events"], request);
    if (Array.isArray(page["items"]))
      events.push(...page["items"].filter(isRecord).map((event) => eventFacts(event, id)));
    pageToken = typeof page["nextPageToken"] === "string" ? page["nextPageToken"] : undefined;
    if (pageToken === undefined) break;
  }
  return events;
}

/** The path of calendars. */
export const CALENDARS = ["calendar", "v3", "calendars"] as const;
