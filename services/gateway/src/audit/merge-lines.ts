import type { AuditLine } from "@rockbot/console/api";
import type { AuditFound, AuditPlace } from "@rockbot/records/audit";

/** The lines that one instance of a service has found. */
export interface FoundPart extends AuditFound {
  readonly service: string;
  /** Where its search began; undefined at the newest line. */
  readonly from: AuditPlace | undefined;
}

/** Where the search goes on in each log, by service and log. */
export type Places = Readonly<Record<string, Readonly<Record<string, AuditPlace>>>>;

/** A log in which nothing is left to look at. */
const DONE: AuditPlace = { seq: 0, at: 0 };

/**
 * The newest lines of several logs, in the order of time. They end where one log has not been looked at further: what
 * comes next may be there. A line that several services of one process tell of stands there once.
 */
export function mergeLines(
  parts: readonly FoundPart[],
  limit: number,
): { readonly lines: readonly AuditLine[]; readonly places: Places; readonly more: boolean } {
  const heads = parts.map((part) => ({ part, taken: 0 }));
  const lines: AuditLine[] = [];
  while (lines.length < limit && heads.length > 0) {
    const newest = heads.reduce((one, other) => (timeOf(other) > timeOf(one) ? other : one));
    const { service, log, lines: found } = newest.part;
    const line = found[newest.taken];
    if (line === undefined) break; // all are at their ends, or what is newest is not known yet
    const { seq, time, hash, fields } = line;
    lines.push({ service, log, seq, time, hash, fields });
    for (const head of heads) if (head.part.log === log && head.part.lines[head.taken]?.hash === hash) head.taken++;
  }
  const places: Record<string, Record<string, AuditPlace>> = {};
  for (const head of heads) {
    const { service, log } = head.part;
    places[service] = { ...places[service], [log]: placeAfter(head) };
  }
  const more = heads.some(({ part, taken }) => part.next !== undefined || taken < part.lines.length);
  return { lines, places, more };
}

/** A log, and how many of its lines are taken. */
interface Head {
  readonly part: FoundPart;
  readonly taken: number;
}

/** The time of the next line of a log; where it has not been looked at further, of the line there. */
function timeOf({ part: { lines, next }, taken }: Head): number {
  const time = (lines[taken] ?? next)?.time;
  return time === undefined ? Number.NEGATIVE_INFINITY : Date.parse(time) || 0;
}

function placeAfter({ part: { lines, next, from }, taken }: Head): AuditPlace {
  if (taken >= lines.length) return next === undefined ? DONE : { seq: next.seq, at: next.at };
  const [last, first] = [lines[taken - 1], lines[0]];
  if (last !== undefined) return { seq: last.seq, at: last.at };
  return from ?? { seq: (first?.seq ?? 0) + 1, at: Number.MAX_SAFE_INTEGER };
}
