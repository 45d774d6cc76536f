import { RecentMap } from "@rockbot/base";

const formats = new RecentMap<string, Intl.DateTimeFormat>(100);

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: isTimeZone(zone) ? zone : "UTC", // a task may have been made by another version, which knows its zone
    hourCycle: "h23",
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  });
  formats.set(zone, format);
  return format;
}

function partsOf(at: number, zone: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
}

/** A moment as people and models read it: `Wed 2026-11-25 09:00:00 +01:00`. */
export function zonedTime(at: number, zone: string): string {
  const { weekday, year, month, day, hour, minute, second, timeZoneName = "" } = partsOf(at, zone);
  return `${weekday} ${year}-${month}-${day} ${hour}:${minute}:${second} ${timeZoneName.replace("GMT", "") || "+00:00"}`;
}

/** The same by ISO 8601, with the zone's offset. */
export function isoTime(at: number, zone: string): string {
  const { year, month, day, hour, minute, second, timeZoneName = "" } = partsOf(at, zone);
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${timeZoneName.replace("GMT", "") || "Z"}`;
}

/** The day of the zone: `2026-11-25`. */
export function dayOf(at: number, zone: string): string {
  const { year, month, day } = partsOf(at, zone);
  return `${year}-${month}-${day}`;
}

/** Tells whether this process knows the zone. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** The machine's own. */
export const systemTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;
