import { CronError, readCron } from "./read-cron.ts";

/** A cron expression that was probably meant, with its next fires. */
export interface NearestReading {
  readonly cron: string;
  readonly fires: readonly number[];
}

/**
 * The valid expression that a text which is none is nearest to, for a person or model to confirm: it is never used by
 * itself. Undefined if there is no such reading, or it would never fire.
 */
export function nearestReading(
  text: string,
  { zone, from }: { readonly zone: string; readonly from: number },
): NearestReading | undefined {
  for (const cron of candidates(text.trim().toLowerCase(), zone)) {
    const fires = nextFires(cron, { zone, from });
    if (fires.length > 0) return { cron, fires };
  }
  return undefined;
}

function nextFires(cron: string, { zone, from }: { readonly zone: string; readonly from: number }): readonly number[] {
  try {
    const times = readCron(cron, zone);
    const fires: number[] = [];
    for (let fire = times.next(from); fire !== undefined && fires.length < 3; fire = times.next(fire)) fires.push(fire);
    return fires;
  } catch (error) {
    if (error instanceof CronError) return [];
    throw error;
  }
}

const NICKNAMES: Readonly<Record<string, string>> = {
  yearly: "0 0 1 1 *",
  annually: "0 0 1 1 *",
  monthly: "0 0 1 * *",
  weekly: "0 0 * * 0",
  daily: "0 0 * * *",
  midnight: "0 0 * * *",
  hourly: "0 * * * *",
};

/** What the text may have meant, the likeliest first. */
function* candidates(text: string, zone: string): Generator<string> {
  const nickname = NICKNAMES[text.replace(/^@/, "")];
  if (nickname !== undefined) yield nickname;
  const moment = momentOf(text, zone);
  if (moment !== undefined) yield moment;
  const phrase = phraseOf(text);
  if (phrase !== undefined) yield phrase;
  const fields = text.split(/\s+/);
  const last = fields.at(-1) ?? "";
  if (fields.length === 4) yield repaired([...fields, "*"]);
  if (fields.length === 5) yield repaired(fields);
  if (fields.length === 6 && /^\d{4}$/.test(last)) yield repaired(fields.slice(0, 5)); // a year
  if (fields.length === 6) yield repaired(fields);
  if (fields.length === 7) yield repaired(fields.slice(0, 6)); // as in Quartz
}

/** The greatest value of each field, seconds first. */
const MOST = [59, 59, 23, 31, 12, 6] as const;
/** What a field begins with. */
const LEAST = [0, 0, 0, 1, 1, 0] as const;

function repaired(fields: readonly string[]): string {
  const skipped = 6 - fields.length;
  return fields
    .map((field, i) => repairedField(field, { least: LEAST[i + skipped] ?? 0, most: MOST[i + skipped] ?? 0 }))
    .join(" ");
}

function repairedField(field: string, { least, most }: { readonly least: number; readonly most: number }): string {
  return field
    .split(",")
    .filter(Boolean)
    .map((part) => {
      const named = part.replace(
        /(sun|mon|tue|wed|thu|fri|sat|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)[a-z]+/g,
        "$1",
      );
      const stepped = /^(\d+)\/(\d+)$/.exec(named);
      if (stepped !== null) return `${stepped[1]}-${most}/${stepped[2]}`;
      const range = /^(\d+)-(\d+)$/.exec(named);
      if (range !== null && Number(range[1]) > Number(range[2])) return `${range[1]}-${most},${least}-${range[2]}`;
      return least === 0 && Number(named) === most + 1 ? "0" : named; // 24 o'clock, minute 60
    })
    .join(",");
}

/** The expression of a date with a time, with or without an offset. */
function momentOf(text: string, zone: string): string | undefined {
  const found = /^(\d{4})-(\d{2})-(\d{2})[t ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(z|[+-]\d{2}:?\d{2})?$/.exec(text);
  if (found === null) return undefined;
  const [, , month, day, hour, minute, second = "00", offset] = found;
  if (offset === undefined) return pinned({ month, day, hour, minute, second });
  const at = new Date(text.toUpperCase().replace(" ", "T"));
  if (Number.isNaN(at.getTime())) return undefined;
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(at);
  return pinned(Object.fromEntries(parts.map(({ type, value }) => [type, value])));
}

function pinned({ month, day, hour, minute, second }: Readonly<Record<string, string | undefined>>): string {
  const five = [minute, hour, day, month].map(Number).join(" ");
  return `${Number(second) === 0 ? "" : `${Number(second)} `}${five} *`;
}

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const UNITS: Readonly<Record<string, (n: number) => string>> = {
  second: (n) => `*/${n} * * * * *`,
  minute: (n) => `*/${n} * * * *`,
  hour: (n) => `0 */${n} * * *`,
  day: (n) => `0 0 */${n} * *`,
};

/** The plainest English: "every 5 minutes", "daily at 9:30", "weekdays at 8am", "every monday at 9". */
function phraseOf(text: string): string | undefined {
  const every = /^every\s+(?:(\d{1,2})\s+)?(second|minute|hour|day)s?$/.exec(text);
  if (every !== null) {
    const [, count = "1", unit = ""] = every;
    return UNITS[unit]?.(Number(count)).replaceAll("*/1 ", "* ");
  }
  const timed =
    /^(?:(?:every\s+)?(day|weekday|[a-z]+day)s?|daily)?\s*(?:at\s+)?(\d{1,2})(?::(\d{2}))?\s*(am|pm)?$/.exec(text);
  if (timed === null) return undefined;
  const [, day, hours = "", minutes = "0", half] = timed;
  if (day === undefined && !text.startsWith("daily") && !text.includes(":") && half === undefined) return undefined; // a bare number
  const weekday = day === undefined || day === "day" ? "*" : day === "weekday" ? "1-5" : DAYS.indexOf(day);
  if (weekday === -1) return undefined;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half === "pm" ? 12 : 0);
  return `${Number(minutes)} ${hour} * * ${weekday}`;
}
