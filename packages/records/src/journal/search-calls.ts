import { type CallRecord, isOpen } from "./call-record.ts";

/** Narrows a list of calls. A part of a caller, a tool or a code is enough, in any case. */
export interface CallFilter {
  /** Who made the call, or for whom it was made. */
  readonly caller?: string | undefined;
  readonly tool?: string | undefined;
  /** The code of the error that it ended in. */
  readonly code?: string | undefined;
  /** One of CallState, or OPEN for every call without an end. */
  readonly state?: string | undefined;
  readonly session?: string | undefined;
  /** The beginning of the id. */
  readonly id?: string | undefined;
  /** The calls of tools that made them. */
  readonly parents?: readonly string[] | undefined;
  /** The bound of its start, in Unix milliseconds, as is `after`. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

/** A search for the newest calls. */
export interface CallSearch extends CallFilter {
  readonly limit: number;
  /** Where an earlier page ended. */
  readonly from?: CallPlace | undefined;
}

/** A place in the list of all calls, the newest first; what comes next is after it. */
export interface CallPlace {
  /** Unix milliseconds. */
  readonly at: number;
  /** Tells calls of one moment apart: see `keyOf`. */
  readonly key: string;
}

/** A part of the list. */
export interface CallPage {
  readonly calls: readonly CallRecord[];
  /**
   * Where the next page begins: there may be more. A search looks at MAX_EXAMINED calls, so a page may have few, or
   * none.
   */
  readonly next?: CallPlace | undefined;
}

/** Stands for every state of a call that has no end yet. */
export const OPEN = "open";

/** One search looks at as many calls as this. */
export const MAX_EXAMINED = 10_000;

/** When the call was made, in Unix milliseconds. */
export const startOf = ({ steps, deadlineAt }: Pick<CallRecord, "steps" | "deadlineAt">): number =>
  steps[0]?.at ?? deadlineAt;

/** The effective caller, whose share of the room a call takes. */
export const ownerOf = ({ caller, onBehalfOf }: Pick<CallRecord, "caller" | "onBehalfOf">): string =>
  onBehalfOf ?? caller.split(".", 1)[0] ?? caller;

/** Unique to a call; without spaces but for the two that part it from behind, whatever its id has. */
export const keyOf = (record: Pick<CallRecord, "toolCallId" | "caller" | "onBehalfOf">): string =>
  `${record.toolCallId} ${record.caller} ${encodeURIComponent(ownerOf(record))}`;

/** Tells whether a call comes after a place in the list. */
export const isBeyond = (at: number, key: string, place: CallPlace): boolean =>
  at < place.at || (at === place.at && Buffer.compare(Buffer.from(key), Buffer.from(place.key)) < 0);

/** The order of the list. */
const newestFirst = (a: CallRecord, b: CallRecord): number =>
  startOf(b) - startOf(a) || Buffer.compare(Buffer.from(keyOf(b)), Buffer.from(keyOf(a)));

export function isMeant(call: Omit<CallRecord, "steps" | "attempts">, startAt: number, filter: CallFilter): boolean {
  const { caller, tool, code, state, session, id, parents, before, after } = filter;
  return (
    has([call.caller, call.onBehalfOf], caller) &&
    has([call.toolName], tool) &&
    has([call.code], code) &&
    (state === undefined || call.state === state || (state === OPEN && isOpen(call))) &&
    (session === undefined || call.session === session) &&
    (parents === undefined || (call.parent !== undefined && parents.includes(call.parent))) &&
    (id === undefined || call.toolCallId.startsWith(id)) &&
    (before === undefined || startAt < before) &&
    (after === undefined || startAt > after)
  );
}

/** Tells whether one of the texts contains the part, in any case. */
const has = (texts: readonly (string | undefined)[], part = ""): boolean =>
  part === "" || texts.some((text = "") => text.toLowerCase().includes(part.toLowerCase()));

/**
 * One page of several lists together. Where one of them ends early, so does the page: what the others have beyond that
 * comes with the next.
 */
export function mergePages(pages: readonly CallPage[], limit: number): CallPage {
  const ends = pages.flatMap(({ next }) => next ?? []);
  const first = ends.reduce<CallPlace | undefined>(
    (end, place) => (end === undefined || isBeyond(end.at, end.key, place) ? place : end),
    undefined,
  );
  const found = new Map<string, CallRecord>();
  for (const call of pages.flatMap(({ calls }) => calls)) {
    const isLater = first !== undefined && isBeyond(startOf(call), keyOf(call), first);
    if (!isLater && !found.has(keyOf(call))) found.set(keyOf(call), call);
  }
  const calls = [...found.values()].sort(newestFirst);
  const last = calls[limit - 1];
  return calls.length <= limit || last === undefined
    ? { calls, next: first }
    : { calls: calls.slice(0, limit), next: placeOf(last) };
}

/** A page of a list that is here as a whole. */
export function pageOf(all: readonly CallRecord[], search: CallSearch): CallPage {
  const { limit, from } = search;
  const meant = all.filter(
    (call) =>
      isMeant(call, startOf(call), search) && (from === undefined || isBeyond(startOf(call), keyOf(call), from)),
  );
  const calls = meant.sort(newestFirst).slice(0, limit);
  const last = calls.at(-1);
  return meant.length > limit && last !== undefined ? { calls, next: placeOf(last) } : { calls };
}

export const placeOf = (call: CallRecord): CallPlace => ({ at: startOf(call), key: keyOf(call) });
