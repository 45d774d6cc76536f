import { queryOptions } from "@tanstack/react-query";
import { askJson } from "./session.ts";
import type { Calls, CallsOfDay, CallWithInner, Guide, Kept, Me, Overview, Tool } from "./types.ts";

/** How often what is shown is asked for anew, in milliseconds. */
const FRESH_MS = 2_000;

export const me = queryOptions({ queryKey: ["me"], queryFn: ({ signal }) => askJson<Me>("/operator/me", { signal }) });

export const overview = queryOptions({
  queryKey: ["overview"],
  queryFn: ({ signal }) => askJson<Overview>("/operator/overview", { signal }),
  staleTime: FRESH_MS, // the stream brings the next one: see useLive
});

/** The minutes of the last day. @param service empty for all */
export const history = (service: string) =>
  queryOptions({
    queryKey: ["history", service],
    queryFn: ({ signal }) =>
      askJson<CallsOfDay>(`/operator/history?${new URLSearchParams(service === "" ? {} : { service })}`, { signal }),
    refetchInterval: 15_000,
    placeholderData: (before) => before,
  });

/** Narrows a list of calls; an empty text narrows nothing. */
export interface CallFilter {
  readonly caller?: string;
  readonly tool?: string;
  readonly code?: string;
  readonly state?: string;
  readonly session?: string;
  readonly id?: string;
  /** Unix milliseconds, as is `after`. */
  readonly before?: number;
  readonly after?: number;
}

/** One page of calls, the newest first; with a cursor those after it. */
export function readCalls(
  search: CallFilter & { readonly cursor?: string },
  limit: number,
  signal?: AbortSignal,
): Promise<Calls> {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  const query = new URLSearchParams([["limit", String(limit)], ...given.map(([name, value]) => [name, String(value)])]);
  return askJson<Calls>(`/operator/calls?${query}`, signal === undefined ? {} : { signal });
}

/** As many as this are read again and again. */
export const NEWEST = 300;

export const calls = (filter: CallFilter) =>
  queryOptions({
    queryKey: ["calls", filter],
    queryFn: ({ signal }) => readCalls(filter, NEWEST, signal),
    refetchInterval: FRESH_MS,
    placeholderData: (before) => before,
  });

export const call = (id: string) =>
  queryOptions({
    queryKey: ["call", id],
    queryFn: ({ signal }) => askJson<CallWithInner>(`/operator/calls/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: FRESH_MS,
  });

/** The arguments and the result of a call, as far as they are kept and the operator may see them. */
export const keptTexts = (id: string, state: string) =>
  queryOptions({
    queryKey: ["kept", id, state], // the result comes with the end
    queryFn: ({ signal }) => askJson<Kept>(`/operator/calls/${encodeURIComponent(id)}/kept`, { signal }),
    retry: false,
  });

export const tools = queryOptions({
  queryKey: ["tools"],
  queryFn: async ({ signal }) =>
    (await askJson<{ readonly tools: readonly Tool[] }>("/operator/tools", { signal })).tools,
  refetchInterval: 10_000,
});

export const guides = (tool: string) =>
  queryOptions({
    queryKey: ["guides", tool],
    queryFn: async ({ signal }) => {
      const path = `/operator/tools/${encodeURIComponent(tool)}/guides`;
      return (await askJson<{ readonly guides: readonly Guide[] }>(path, { signal })).guides;
    },
  });

/** What the policy says of a caller's use of a tool, in lines. */
export const explanation = (caller: string, tool: string) =>
  queryOptions({
    queryKey: ["explanation", caller, tool],
    queryFn: async ({ signal }) => {
      const asked = new URLSearchParams({ caller, tool });
      const answer = await askJson<{ readonly explanation?: readonly string[] }>(`/operator/policy?${asked}`, {
        signal,
      });
      return answer.explanation ?? [];
    },
  });
