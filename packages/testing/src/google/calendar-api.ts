import { type GoogleEvent, type GoogleRequest, type GoogleTime, newGoogleId } from "./google-account.ts";
import { checkParameters, checkScopes, GoogleError, numberOf, objectOf } from "./google-error.ts";

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?$/;
const ITEMS = ["id", "summary", "description", "location", "start", "end", "attendees", "recurrence", "reminders"];

/**
 * Calendar's answer.
 * @throws {GoogleError}
 * @see https://developers.google.com/workspace/calendar/api/v3/reference/events
 */
export function calendarAnswer(request: GoogleRequest): unknown {
  const { account, scopes, method, url } = request;
  const [calendarId = "", kind, id, ...rest] = url.pathname
    .slice("/calendar/v3/calendars/".length)
    .split("/")
    .map(decodeURIComponent);
  if (kind !== "events" || rest.length > 0) throw new GoogleError(404, "notFound", "Not Found");
  const events = account.calendars[calendarId === request.address ? "primary" : calendarId];
  if (method === "POST" && id === undefined) {
    checkScopes(scopes, "calendar", "calendar.events");
    if (events === undefined) throw new GoogleError(404, "notFound", "Not Found");
    return inserted(request, events);
  }
  if (method !== "GET") throw new GoogleError(404, "notFound", "Not Found");
  checkScopes(scopes, "calendar", "calendar.events", "calendar.events.readonly");
  if (events === undefined) throw new GoogleError(404, "notFound", "Not Found");
  if (id === undefined) return listed(url, events, request.address);
  checkParameters(url, ["timeZone"]);
  const event = events.find((one) => one.id === id);
  if (event === undefined) throw new GoogleError(404, "notFound", "Not Found");
  return { kind: "calendar#event", ...event };
}

/** All of a query's words have to stand in the event. Recurring events are given as they are, once. */
function listed(url: URL, events: readonly GoogleEvent[], summary: string): unknown {
  checkParameters(url, ["timeMin", "timeMax", "q", "singleEvents", "orderBy", "maxResults", "pageToken", "timeZone"]);
  const of = (name: string): string | null => url.searchParams.get(name);
  for (const name of ["timeMin", "timeMax"]) {
    const value = of(name);
    if (value !== null && !RFC3339.test(value)) throw new GoogleError(400, "badRequest", "Bad Request");
  }
  const [from, to] = [
    Date.parse(of("timeMin") ?? "0000-01-01T00:00:00Z"),
    Date.parse(of("timeMax") ?? "9999-01-01T00:00:00Z"),
  ];
  if (from >= to) throw new GoogleError(400, "timeRangeEmpty", "The specified time range is empty.");
  if (of("orderBy") === "startTime" && of("singleEvents") !== "true") {
    throw new GoogleError(400, "badRequest", "The requested ordering is not available for the particular query.");
  }
  const most = numberOf(url, "maxResults", { least: 1, most: 2500, otherwise: 250 });
  const start = Number(of("pageToken") ?? 0);
  const words = (of("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const found = events
    .filter((event) => startOf(event) < to && endOf(event) > from)
    .filter((event) =>
      words.every((word) =>
        JSON.stringify([event.summary, event.description, event.location]).toLowerCase().includes(word),
      ),
    )
    .sort((a, b) => startOf(a) - startOf(b));
  return {
    kind: "calendar#events",
    summary,
    timeZone: of("timeZone") ?? "Europe/Berlin",
    items: found.slice(start, start + most),
    ...(start + most < found.length ? { nextPageToken: String(start + most) } : {}),
  };
}

const startOf = ({ start }: GoogleEvent): number => Date.parse(start.dateTime ?? `${start.date}T00:00:00Z`);
const endOf = ({ end }: GoogleEvent): number => Date.parse(end.dateTime ?? `${end.date}T00:00:00Z`);

function inserted({ url, body, address }: GoogleRequest, events: GoogleEvent[]): unknown {
  checkParameters(url, ["sendUpdates"]);
  if (!["all", "externalOnly", "none"].includes(url.searchParams.get("sendUpdates") ?? "none"))
    throw new GoogleError(400, "invalidParameter", "Bad sendUpdates");
  const given = objectOf(body) as Partial<GoogleEvent> & Record<string, unknown>;
  const strange = Object.keys(given).find((name) => !ITEMS.includes(name));
  if (strange !== undefined) throw new GoogleError(400, "badRequest", `Unknown name "${strange}"`);
  const { id = newGoogleId(), start, end, attendees = [], recurrence = [], reminders } = given;
  if (!/^[0-9a-v]{5,1024}$/.test(id)) throw new GoogleError(400, "invalid", "Invalid resource id value.");
  if (start === undefined) throw new GoogleError(400, "required", "Missing start time.");
  if (end === undefined) throw new GoogleError(400, "required", "Missing end time.");
  for (const time of [start, end]) checkTime(time, recurrence.length > 0);
  if ((start.date === undefined) !== (end.date === undefined))
    throw new GoogleError(400, "invalid", "Start and end times must either both be date or both be dateTime.");
  if (attendees.some(({ email }) => !/^[^@\s]+@[^@\s]+$/.test(email)))
    throw new GoogleError(400, "invalid", "Invalid attendee email.");
  if (recurrence.some((line) => !/^(RRULE|EXRULE|RDATE|EXDATE)[:;]/.test(line)))
    throw new GoogleError(400, "invalid", "Invalid recurrence rule.");
  const overrides = reminders?.overrides ?? [];
  const isWrong =
    overrides.length > 5 ||
    overrides.some(({ method, minutes }) => !["email", "popup"].includes(method) || minutes < 0 || minutes > 40_320);
  if (isWrong || (reminders?.useDefault === true && overrides.length > 0))
    throw new GoogleError(400, "invalid", "Invalid reminder.");
  if (events.some((one) => one.id === id))
    throw new GoogleError(409, "duplicate", "The requested identifier already exists.");
  const event: GoogleEvent = {
    ...(given as GoogleEvent),
    id,
    status: "confirmed",
    htmlLink: `https://www.google.com/calendar/event?eid=${id}`,
    organizer: { email: address },
    ...(attendees.length > 0
      ? { attendees: attendees.map(({ email }) => ({ email, responseStatus: "needsAction" })) }
      : {}),
  };
  events.push(event);
  return { kind: "calendar#event", ...event };
}

function checkTime({ date, dateTime, timeZone }: GoogleTime, isRecurring: boolean): void {
  if ((date === undefined) === (dateTime === undefined))
    throw new GoogleError(400, "invalid", "Invalid start or end time.");
  if (date !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(date)) throw new GoogleError(400, "invalid", "Invalid date.");
  if (dateTime === undefined) return;
  if (!RFC3339.test(dateTime) && !(LOCAL.test(dateTime) && timeZone !== undefined))
    throw new GoogleError(400, "required", "Missing time zone definition for start time.");
  if (isRecurring && timeZone === undefined)
    throw new GoogleError(400, "required", "Missing time zone definition for start time.");
}
