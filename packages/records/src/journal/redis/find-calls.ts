import type { CallRecord } from "../call-record.ts";
import {
  type CallPage,
  type CallPlace,
  type CallSearch,
  isBeyond,
  isMeant,
  keyOf,
  MAX_EXAMINED,
  OPEN,
  pageOf,
  placeOf,
  startOf,
} from "../search-calls.ts";

/** The commands of the index. */
export interface CallIndex {
  /** Looks at so many calls after a place, and gives those whose records have all these texts, in lower case. */
  byTime(
    place: CallPlace,
    count: number,
    parts: readonly string[],
  ): Promise<{ readonly looked: number; readonly last: CallPlace; readonly calls: readonly CallRecord[] }>;
  /** The first calls whose ids begin as the search says. */
  byId(count: number): Promise<readonly CallRecord[]>;
}

/** As many as this are looked at in one command: others wait for it, about 1 ms. */
const CHUNK = 500;

/** A page of the calls in Redis. The commands narrow it down roughly, and this exactly. */
export async function findCalls(search: CallSearch, index: CallIndex): Promise<CallPage> {
  const { id, limit, before = Infinity, from } = search;
  if (id !== undefined && id !== "") return pageOf(await index.byId(CHUNK), search);
  const isAfterFrom = (call: CallRecord): boolean => from === undefined || isBeyond(startOf(call), keyOf(call), from);
  const isFound = (call: CallRecord): boolean => isMeant(call, startOf(call), search) && isAfterFrom(call);
  const parts = partsOf(search);
  const calls: CallRecord[] = [];
  let place: CallPlace = from !== undefined && from.at <= before ? from : { at: before, key: "" };
  for (let examined = 0; examined < MAX_EXAMINED; ) {
    const count = parts.length === 0 ? Math.min(CHUNK, limit - calls.length + 1) : CHUNK;
    const { looked, last, calls: found } = await index.byTime(place, count, parts);
    for (const call of found.filter(isFound)) {
      const lastCall = calls.at(-1);
      if (calls.length >= limit && lastCall !== undefined) return { calls, next: placeOf(lastCall) };
      calls.push(call);
    }
    if (looked < count) return { calls };
    examined += looked;
    place = last;
  }
  return { calls, next: place };
}

/**
 * What the text of a record has, if the record is meant. It has only the parts that Lua writes in lower case as
 * JavaScript does.
 */
const partsOf = ({ caller, tool, code, state, session }: CallSearch): readonly string[] =>
  [caller, tool, code, state === OPEN ? undefined : state, session]
    .filter((part): part is string => part !== undefined && /^[\x20-\x7e]+$/.test(part))
    .map((part) => JSON.stringify(part).slice(1, -1).toLowerCase());
