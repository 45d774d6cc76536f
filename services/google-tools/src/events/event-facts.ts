import { isRecord } from "@rockbot/base";
import { visibleText } from "@rockbot/contracts";

/** What is said of an event. */
export interface EventFacts {
  readonly calendar_id: string;
  readonly id: string;
  readonly title: string;
  readonly start: string;
  readonly end: string;
  readonly all_day: boolean;
  readonly status: string;
  readonly location: string;
  readonly description: string;
  readonly organizer: string;
  readonly attendees: { readonly email: string; readonly response: string }[];
  readonly recurrence: string[];
  readonly link: string;
}

type Resource = Readonly<Record<string, unknown>>;

/** An event as Calendar gives it; what it lacks is "". */
export function eventFacts(event: Resource, calendarId: string): EventFacts {
  const attendees = Array.isArray(event["attendees"]) ? event["attendees"].filter(isRecord) : [];
  const recurrence = Array.isArray(event["recurrence"]) ? event["recurrence"] : [];
  return {
    calendar_id: calendarId,
    id: text(event, "id"),
    title: text(event, "summary"),
    start: timeOf(event["start"]),
    end: timeOf(event["end"]),
    all_day: isRecord(event["start"]) && typeof event["start"]["date"] === "string",
    status: text(event, "status"),
    location: text(event, "location"),
    description: text(event, "description"),
    organizer: isRecord(event["organizer"]) ? text(event["organizer"], "email") : "",
    attendees: attendees.map((attendee) => ({
      email: text(attendee, "email"),
      response: text(attendee, "responseStatus"),
    })),
    recurrence: recurrence.filter((line) => typeof line === "string"),
    link: text(event, "htmlLink"),
  };
}

const text = (from: Resource, name: string): string => (typeof from[name] === "string" ? visibleText(from[name]) : "");

const timeOf = (value: unknown): string => (isRecord(value) ? text(value, "dateTime") || text(value, "date") : "");

/** Calendar's `end` of days is the day after the last, which would read as one of them. */
function timesOf({ start, end, all_day }: EventFacts): string {
  if (!all_day) return `${start} to ${end}`;
  const next = Date.parse(end);
  const last = Number.isNaN(next) ? "" : new Date(next - DAY_MS).toISOString().slice(0, 10);
  return last <= start ? `${start}, all day` : `${start} to ${last}, all day`;
}

const DAY_MS = 86_400_000;

/** One line of a list. */
export function eventLine(event: EventFacts): string {
  const { id, calendar_id, title, location } = event;
  const one = (value: string): string => value.replaceAll(/\s+/g, " ");
  const place = location === "" ? "" : `, at ${one(location)}`;
  return `- ${timesOf(event)}: ${one(title) || "(no title)"}${place} (id ${id}, calendar ${calendar_id})`;
}

/** All of it. */
export function eventText(event: EventFacts): string {
  const { title, location, organizer, attendees, recurrence, description, link, id, calendar_id } = event;
  const people = attendees.map(({ email, response }) => `${email} (${response || "no answer"})`).join(", ");
  const facts = [
    ["When", timesOf(event)],
    ["Where", location],
    ["Organizer", organizer],
    ["Attendees", people],
    ["Again", recurrence.join("; ")],
    ["Link", link],
    ["Id", `${id}, calendar ${calendar_id}`],
  ];
  return [
    `# ${title || "(no title)"}`,
    "",
    ...facts.flatMap(([name, value]) => (value === "" ? [] : [`${name}: ${value}`])),
    ...(description === "" ? [] : ["", description]),
  ].join("\n");
}
