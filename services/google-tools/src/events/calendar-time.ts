import { Temporal } from "temporal-polyfill";

/** A day, a moment, or a time of a wall clock, as a caller writes it. */
export type CalendarTime =
  | { readonly kind: "date"; readonly date: Temporal.PlainDate }
  | { readonly kind: "instant"; readonly instant: Temporal.Instant }
  | { readonly kind: "local"; readonly local: Temporal.PlainDateTime };

/** @returns undefined if it is none: 2025-02-30 is none either */
export function calendarTime(text: string): CalendarTime | undefined {
  try {
    if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return { kind: "date", date: Temporal.PlainDate.from(text) };
    if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$/.test(text))
      return { kind: "local", local: Temporal.PlainDateTime.from(text) };
    if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(text))
      return { kind: "instant", instant: Temporal.Instant.from(text) };
  } catch {
    // no such day or hour
  }
  return undefined;
}

/** Tells whether it is a name of the IANA database that this machine knows. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** The moment as RFC 3339 in UTC: of a day its first, in this zone. */
export function instantOf(time: CalendarTime, timeZone: string): string {
  if (time.kind === "instant") return time.instant.toString();
  const zoned = time.kind === "date" ? time.date.toZonedDateTime(timeZone) : time.local.toZonedDateTime(timeZone);
  return zoned.toInstant().toString();
}

/** As Calendar takes it, with the zone in which an event comes again. */
export function eventTime(
  time: CalendarTime,
  timeZone: string | undefined,
): { readonly date: string } | { readonly dateTime: string; readonly timeZone?: string } {
  if (time.kind === "date") return { date: time.date.toString() };
  const dateTime =
    time.kind === "instant"
      ? time.instant.toString({ smallestUnit: "second" })
      : time.local.toString({ smallestUnit: "second" });
  return { dateTime, ...(timeZone === undefined ? {} : { timeZone }) };
}

export const timeFault = (name: string, text: string): string =>
  `${name}: expected a date such as 2025-08-01 or a time such as 2025-08-01T09:00:00+02:00, got ${JSON.stringify(text.slice(0, 40))}`;

export const zoneFault = (name: string): string =>
  `time_zone: expected a name such as Europe/Berlin, got ${JSON.stringify(name.slice(0, 40))}`;
