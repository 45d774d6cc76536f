import { useQuery } from "@tanstack/react-query";
import { startTransition, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type CallFilter, calls, NEWEST, readCalls } from "../api/queries.ts";
import type { Call, Calls } from "../api/types.ts";

/** A page shows no more calls than this: a search narrows them. */
export const MAX_ROWS = 10_000;
const OLDER = 1_000;
/** Where a search finds less than this, it looks further back by itself, a few times. */
const FEW = 20;
const MAX_LOOKS = 4;

/** The calls that were read for one search. */
interface Seen {
  readonly of: string;
  readonly calls: ReadonlyMap<string, Call>;
  /** Where older ones begin; undefined if there are none. */
  readonly cursor: string | undefined;
  /** How often it was looked further back. */
  readonly looks: number;
}

const keyOf = ({ toolCallId, caller }: Call): string => `${caller} ${toolCallId}`;
export const startOf = ({ steps, deadlineAt }: Call): number => steps[0]?.at ?? deadlineAt;

const withCalls = (seen: Seen, more: readonly Call[]): ReadonlyMap<string, Call> => {
  const all = new Map(seen.calls);
  for (const call of more) all.set(keyOf(call), call);
  return all;
};

/**
 * What is known after the newest calls were read again. Where a full page of them does not reach what was known, there
 * is a gap, and what was known is given up.
 */
function afterNewest(seen: Seen | undefined, of: string, { calls: newest, cursor }: Calls): Seen {
  const isJoined =
    seen?.of === of &&
    (newest.length < NEWEST || cursor === undefined || newest.some((call) => seen.calls.has(keyOf(call))));
  if (!isJoined) return { of, calls: new Map(newest.map((call) => [keyOf(call), call])), cursor, looks: 0 };
  // What the page covers and does not have fits the search no more, such as a running call that has ended.
  const coveredFrom = cursor === undefined ? Number.NEGATIVE_INFINITY : Number.parseInt(cursor, 10);
  const older = [...seen.calls].filter(([, call]) => startOf(call) <= coveredFrom);
  return { ...seen, calls: withCalls({ ...seen, calls: new Map(older) }, newest) };
}

/** The newest calls that fit a search, live, and older ones as they are asked for. */
export function useCalls(filter: CallFilter) {
  const of = JSON.stringify(filter);
  const newest = useQuery(calls(filter));
  const [seen, setSeen] = useState<Seen>();
  const [error, setError] = useState<Error>();
  const [isLoading, setLoading] = useState(false);
  const loading = useRef(false);
  const { data } = newest;
  const isOfSearch = data !== undefined && !newest.isPlaceholderData;
  useEffect(() => {
    // Thousands of rows may be drawn: a key that is pressed meanwhile goes first.
    if (isOfSearch) startTransition(() => setSeen((before) => afterNewest(before, of, data)));
  }, [of, data, isOfSearch]);

  const cursor = seen?.of === of ? seen.cursor : undefined;
  const readOlder = useCallback(async () => {
    if (loading.current || cursor === undefined) return;
    loading.current = true;
    setLoading(true);
    try {
      const older = await readCalls({ ...filter, cursor }, OLDER);
      setError(undefined);
      setSeen((before) =>
        before?.of === of && before.cursor === cursor
          ? { of, calls: withCalls(before, older.calls), cursor: older.cursor, looks: before.looks + 1 }
          : before,
      );
    } catch (reason) {
      setError(reason as Error);
    } finally {
      loading.current = false;
      setLoading(false);
    }
  }, [cursor, of, filter]);

  const looks = seen?.looks ?? 0;
  const isFew = cursor !== undefined && (seen?.calls.size ?? 0) < FEW && looks < MAX_LOOKS;
  useEffect(() => {
    if (isFew && error === undefined) void readOlder();
  }, [isFew, error, readOlder]);

  const rows = useMemo(
    () => [...(seen?.calls.values() ?? [])].sort((a, b) => startOf(b) - startOf(a)).slice(0, MAX_ROWS),
    [seen],
  );
  return {
    asked: { data: seen === undefined ? undefined : rows, error: newest.error ?? error ?? null },
    isPartial: data?.isPartial === true,
    hasOlder: cursor !== undefined && rows.length < MAX_ROWS,
    isLoading,
    readOlder,
  };
}
