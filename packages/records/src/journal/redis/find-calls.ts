import type { CallRecord } from "../call-record.ts";
import {
  type CallPage,
  type CallSearch,
  isBeyond,
  isMeant,
  keyOf,
  MAX_EXAMINED,
  newestFirst,
  OPEN,
  placeOf,
  startOf,
} from "../search-calls.ts";

/** A search that may be for the calls of one caller alone. */
export interface SegmentSearch extends CallSearch {
  readonly by?: string | undefined;
}

/** A list of calls that is forgotten as a whole. */
export interface Segment {
  readonly name: string;
  /** The newest start in it, in Unix milliseconds. */
  readonly newest: number;
}

/**
 * The calls that a scan is about: those with a start between two, with an id that begins so, and with all these texts,
 * in lower case.
 */
export interface CallScan {
  readonly latest: number;
  readonly earliest: number;
  readonly id: string;
  readonly parts: readonly string[];
  /** It ends with the segment in which it has looked at so many calls. */
  readonly most: number;
}

/** What a scan has found in the first `read` segments. */
export interface ScannedCalls {
  readonly read: number;
  readonly looked: number;
  readonly calls: readonly CallRecord[];
}

/** As many records, or ids, as this are looked at in one command: others wait for it, about 1 ms. */
const CHUNK = 500;
const ID_CHUNK = 5_000;

/**
 * A page of the calls in these segments, of which those with the newest start come first. Scans narrow it down roughly,
 * and this exactly.
 */
export async function findCalls(
  search: SegmentSearch,
  segments: readonly Segment[],
  scan: (segments: readonly Segment[], what: CallScan) => Promise<ScannedCalls>,
): Promise<CallPage> {
  const { limit, id = "", after = -1, from, by } = search;
  const latest = latestOf(search);
  const isFound = (call: CallRecord): boolean =>
    isMeant(call, startOf(call), search) &&
    (by === undefined || call.caller === by) &&
    (from === undefined || isBeyond(startOf(call), keyOf(call), from));
  const what = { latest, id, parts: partsOf(search), most: id === "" ? CHUNK : ID_CHUNK };
  let calls: readonly CallRecord[] = [];
  for (let [begin, examined] = [0, 0]; ; ) {
    const rest = segments.slice(begin, begin + what.most);
    const [next] = rest;
    const [last, extra] = [calls[limit - 1], calls[limit]];
    if (last !== undefined && extra !== undefined && (next === undefined || startOf(last) > next.newest))
      return { calls: calls.slice(0, limit), next: placeOf(last) };
    if (next === undefined) return { calls };
    const isLong = id === "" && examined >= MAX_EXAMINED && next.newest + 1 < latest;
    if (isLong) {
      // What has not been looked at comes after this place.
      const place = { at: next.newest + 1, key: "" };
      return { calls: calls.filter((call) => startOf(call) >= place.at), next: place };
    }
    const { read, looked, calls: found } = await scan(rest, { ...what, earliest: extra ? startOf(extra) : after });
    const known = new Map([...calls, ...found.filter(isFound)].map((call) => [keyOf(call), call]));
    calls = [...known.values()].sort(newestFirst).slice(0, limit + 1);
    begin += read;
    examined += looked;
  }
}

/** The latest start that a search is about. */
export const latestOf = ({ before = Infinity, from }: CallSearch): number =>
  Math.min(before, from?.at ?? Infinity, Number.MAX_SAFE_INTEGER);

/**
 * What the text of a record has, if the record is meant. It has only the parts that Lua writes in lower case as
 * JavaScript does.
 */
const partsOf = ({ caller, tool, code, state, session, by }: SegmentSearch): readonly string[] => {
  const texts = [caller, tool, code, state === OPEN ? undefined : state, session, by];
  return texts
    .filter((part): part is string => part !== undefined && /^[\x20-\x7e]+$/.test(part))
    .map((part) => JSON.stringify(part).slice(1, -1).toLowerCase());
};
