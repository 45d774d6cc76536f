import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { askJson } from "./session.ts";
import type { MemoryPage, MemoryText, SessionPage, Transcript, WispList } from "./types.ts";

/** True if an instance of the agent has not answered. */
interface Partly {
  readonly isPartial: boolean;
}

const read = <T>(
  caller: string,
  what: string,
  query: Readonly<Record<string, string | number>>,
  signal: AbortSignal,
) => {
  const asked = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  return askJson<T & Partly>(`/operator/agents/${encodeURIComponent(caller)}/${what}?${asked}`, { signal });
};

/** Each reading leaves a line in the audit log, so nothing is read again by itself. */
const once = { staleTime: Infinity, retry: false } as const;
const after = (cursor: string) => (cursor === "" ? {} : { cursor });
const next = ({ cursor }: { readonly cursor?: string }) => cursor;

export const sessionsOf = (caller: string) =>
  infiniteQueryOptions({
    queryKey: ["kept by agent", caller, "sessions"],
    queryFn: ({ signal, pageParam }) => read<SessionPage>(caller, "sessions", after(pageParam), signal),
    initialPageParam: "",
    getNextPageParam: next,
    ...once,
  });

export const transcriptOf = (caller: string, session: string) =>
  queryOptions({
    queryKey: ["kept by agent", caller, "transcript", session],
    queryFn: ({ signal }) => read<Transcript>(caller, "transcript", { session }, signal),
    ...once,
  });

export const memoryOf = (caller: string, prefix: string) =>
  infiniteQueryOptions({
    queryKey: ["kept by agent", caller, "memory", prefix],
    queryFn: ({ signal, pageParam }) => read<MemoryPage>(caller, "memory", { prefix, ...after(pageParam) }, signal),
    initialPageParam: "",
    getNextPageParam: next,
    ...once,
  });

/** A text in parts. */
export const memoryTextOf = (caller: string, key: string) =>
  infiniteQueryOptions({
    queryKey: ["kept by agent", caller, "text", key],
    queryFn: ({ signal, pageParam: offset }) => read<MemoryText>(caller, "memory/text", { key, offset }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ next: offset }) => offset,
    ...once,
  });

export const wispsOf = (caller: string) =>
  queryOptions({
    queryKey: ["kept by agent", caller, "wisps"],
    queryFn: ({ signal }) => read<WispList>(caller, "wisps", {}, signal),
    ...once,
  });
