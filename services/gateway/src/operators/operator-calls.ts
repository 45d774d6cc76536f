import { type CallRecord, CallState, MAX_CALLS } from "@rockbot/records/journal";
import type { ToolCaller } from "@rockbot/tools";
import type { HttpApp } from "../http/http-server.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";

/** Where an operator reads calls, on a socket or by an operator's token only. */
export const CALLS_PATH = "/operator/calls";
/** The largest number of calls in one answer. */
export const MAX_LISTED_CALLS = 1_000;
const LISTED_CALLS = 100;

/**
 * The routes behind `rockbot calls`, for the calls of all callers in this process, and of the other instances of their
 * agents that share a Redis. They are `GET /operator/calls`, which takes `limit`, 100 unless given, and what
 * `CallFilter` has, and `GET /operator/calls/{toolCallId}`.
 */
export function createCallsApp(journals: () => readonly ToolCaller["journal"][]): HttpApp {
  return {
    async fetch({ url, method }) {
      const { pathname, searchParams } = new URL(url);
      const toolCallId = decoded(/^\/operator\/calls\/([^/]+)$/.exec(pathname)?.[1]);
      if (method !== "GET" || (toolCallId === undefined && pathname !== CALLS_PATH)) return noSuchOperatorPath();
      if (toolCallId !== undefined) {
        const found = await Promise.all(journals().map((journal) => journal.find(toolCallId)));
        return Response.json({ call: found.find((call) => call !== undefined) ?? null });
      }
      const asked = readQuery(searchParams);
      if (Array.isArray(asked))
        return Response.json({ message: `Cannot list calls: ${asked.join("; ")}` }, { status: 400 });
      const { limit, ...filter } = asked;
      // One more than is asked for says that there is more. What is left out may be anywhere.
      const count = Object.keys(filter).length === 0 ? limit + 1 : MAX_CALLS;
      const calls = (await Promise.all(journals().map((journal) => journal.recent(count))))
        .flat()
        .filter((call) => isMeant(call, filter))
        .sort((a, b) => startOf(b) - startOf(a));
      return Response.json({ calls: calls.slice(0, limit), more: calls.length > limit });
    },
  };
}

/** What a list of calls is narrowed to. Of the first three a part is enough, in any case. */
interface CallFilter {
  /** Who made the call, or for whom it was made. */
  readonly caller?: string;
  readonly tool?: string;
  /** Of the error that it ended in. */
  readonly code?: string;
  readonly state?: string;
  /** The beginning of the id. */
  readonly id?: string;
  /** Of its start, in Unix milliseconds, as is `after`. */
  readonly before?: number;
  readonly after?: number;
}

const TEXTS = ["caller", "tool", "code", "state", "id"] as const;
const TIMES = ["before", "after"] as const;
const MAX_TEXT = 256;

/** @returns the faults, in words, if there are any */
function readQuery(query: URLSearchParams): (CallFilter & { readonly limit: number }) | string[] {
  const known: readonly string[] = ["limit", ...TEXTS, ...TIMES];
  const faults = [...new Set(query.keys())].flatMap((name) =>
    !known.includes(name)
      ? [`${JSON.stringify(name.slice(0, 80))} is none of ${known.join(", ")}`]
      : query.getAll(name).length > 1
        ? [`${name} stands there more than once`]
        : [],
  );
  const limit = Number(query.get("limit") ?? LISTED_CALLS);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED_CALLS)
    faults.push(`limit is a whole number from 1 to ${MAX_LISTED_CALLS}`);
  const filter: Record<string, string | number> = {};
  for (const name of TEXTS) {
    const text = query.get(name) ?? "";
    if (text.length > MAX_TEXT) faults.push(`${name} has at most ${MAX_TEXT} characters`);
    if (text !== "") filter[name] = text;
  }
  const { state } = filter;
  const states: readonly unknown[] = Object.values(CallState);
  if (state !== undefined && !states.includes(state)) faults.push(`state is one of ${states.join(", ")}`);
  for (const name of TIMES) {
    const text = query.get(name);
    if (text === null) continue;
    if (/^\d{1,15}$/.test(text)) filter[name] = Number(text);
    else faults.push(`${name} is a time in Unix milliseconds`);
  }
  return faults.length > 0 ? faults : { ...(filter as CallFilter), limit };
}

function isMeant(call: CallRecord, { caller, tool, code, state, id, before, after }: CallFilter): boolean {
  const startAt = startOf(call);
  return (
    has([call.caller, call.onBehalfOf], caller) &&
    has([call.toolName], tool) &&
    has([call.code], code) &&
    (state === undefined || call.state === state) &&
    (id === undefined || call.toolCallId.startsWith(id)) &&
    (before === undefined || startAt < before) &&
    (after === undefined || startAt > after)
  );
}

/** Whether one of the texts contains what is looked for, in any case. */
const has = (texts: readonly (string | undefined)[], part = ""): boolean =>
  texts.some((text = "") => text.toLowerCase().includes(part.toLowerCase()));

const startOf = ({ steps }: CallRecord): number => steps[0]?.at ?? 0;

/** Undefined too if it is no text that was encoded for an address. */
function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
