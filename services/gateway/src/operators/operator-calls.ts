import type { CallWithInner } from "@rockbot/console/api";
import {
  type CallFilter,
  type CallRecord,
  type CallSearch,
  CallState,
  OPEN,
  searchJournals,
} from "@rockbot/records/journal";
import type { RunStore } from "@rockbot/runs";
import type { ToolCaller } from "@rockbot/tools";
import { withRun } from "../calls/run-standing.ts";
import { findCall } from "./find-call.ts";
import type { OperatorHttpApp } from "./operator.ts";
import { keptFor } from "./operator-kept.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";
import { readQuery } from "./read-query.ts";

/** Where an operator reads calls, on a socket or by an operator's token only. */
export const CALLS_PATH = "/operator/calls";
/** The largest number of calls in one answer. */
export const MAX_LISTED_CALLS = 1_000;
const LISTED_CALLS = 100;

/**
 * The routes behind `rockbot calls`, for the calls of all callers in this process, and of all whose journals are in the
 * same Redis. `GET /operator/calls` takes `limit`, 100 unless given, a filter, and the `cursor` of the page before.
 * `GET /operator/calls/{toolCallId}` also has the calls that it led to. Texts under `/kept` are for operators who see
 * arguments or results. A call that was left to a run has `run`, which says how that stands.
 */
export function createCallsApp(
  journals: () => readonly ToolCaller["journal"][],
  { runs }: { readonly runs: RunStore | undefined },
): OperatorHttpApp {
  return {
    async fetch({ url, method }, { operator, see }) {
      const { pathname, searchParams } = new URL(url);
      const [, id, kept] = /^\/operator\/calls\/([^/]+)(\/kept)?$/.exec(pathname) ?? [];
      const toolCallId = decoded(id);
      if (method !== "GET" || (toolCallId === undefined && pathname !== CALLS_PATH)) return noSuchOperatorPath();
      if (toolCallId !== undefined && kept !== undefined) {
        const call = await findCall(journals(), toolCallId);
        if (call === null)
          return Response.json({ message: "Cannot read texts: no such call is known" }, { status: 404 });
        return Response.json(await keptFor({ operator, see }, call, journals()));
      }
      if (toolCallId !== undefined) {
        const found = await callWithInner(journals(), toolCallId);
        return Response.json({ ...found, call: found.call && (await withRun(found.call, runs)) });
      }
      const asked = readSearch(searchParams);
      if (Array.isArray(asked))
        return Response.json({ message: `Cannot list calls: ${asked.join("; ")}` }, { status: 400 });
      const { calls, next, isPartial } = await searchJournals(journals(), asked);
      const cursor = next === undefined ? {} : { cursor: `${next.at}~${next.key}` };
      const shown = await Promise.all(calls.map((call) => withRun(call, runs)));
      return Response.json({ calls: shown, more: next !== undefined, ...cursor, isPartial });
    },
  };
}

/** The calls that one led to are shown down to this depth, and no more than this many. */
const MAX_DEPTH = 8;
const MAX_INNER = 200;

/** A call, and those that its tool made, with theirs: each after the one that made it. */
async function callWithInner(journals: readonly ToolCaller["journal"][], toolCallId: string): Promise<CallWithInner> {
  const call = await findCall(journals, toolCallId);
  const inner: CallRecord[] = [];
  const seen = new Set([toolCallId]);
  let isWhole = true;
  let parents = [toolCallId];
  for (let depth = 0; call !== null && depth < MAX_DEPTH && parents.length > 0; depth++) {
    const { calls, next, isPartial } = await searchJournals(journals, { parents, limit: MAX_INNER - inner.length });
    isWhole &&= next === undefined && !isPartial;
    const found = [...calls].reverse().filter(({ toolCallId: id }) => !seen.has(id) && seen.add(id));
    inner.push(...found);
    parents = inner.length < MAX_INNER ? found.map(({ toolCallId: id }) => id) : [];
  }
  return { call, inner, isWhole };
}

const QUERY = {
  texts: ["caller", "tool", "code", "state", "session", "id"],
  others: ["parent"],
  limit: LISTED_CALLS,
  maxLimit: MAX_LISTED_CALLS,
};

/** @returns the faults, in words, if there are any */
function readSearch(query: URLSearchParams): CallSearch | string[] {
  const { filter, limit, faults } = readQuery(query, QUERY);
  const { state } = filter;
  const states: readonly unknown[] = [...Object.values(CallState), OPEN];
  if (state !== undefined && !states.includes(state)) faults.push(`state is one of ${states.join(", ")}`);
  const cursor = query.get("cursor");
  const [, at, key] = /^(\d{1,15})~(.{0,1000})$/s.exec(cursor ?? "") ?? [];
  if (cursor !== null && key === undefined) faults.push("cursor is that of the page before");
  const from = key === undefined ? {} : { from: { at: Number(at), key } };
  const parent = query.get("parent") ?? "";
  const parents = parent === "" ? {} : { parents: [parent] };
  return faults.length > 0 ? faults : { ...(filter as CallFilter), ...parents, ...from, limit };
}

/** Undefined too if it is no text that was encoded for an address. */
function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
