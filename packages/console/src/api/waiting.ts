import { queryOptions } from "@tanstack/react-query";
import { askJson } from "./session.ts";
import type { WaitingAnswer, WaitingCall, WaitingCalls, WaitingDecided, WaitingDecision } from "./types.ts";

const FRESH_MS = 2_000;

/** The calls that wait, without their arguments: each reading of those leaves a line in the audit log. */
export const waitingCalls = queryOptions({
  queryKey: ["waiting"],
  queryFn: ({ signal }) => askJson<WaitingCalls>("/operator/waiting?brief=true", { signal }),
  refetchInterval: FRESH_MS,
});

const pathOf = (id: string): string => `/operator/waiting/${encodeURIComponent(id)}`;

/** One of them whole. It is read once: `waitingCalls` says what has changed. */
export const waitingCall = (id: string) =>
  queryOptions({
    queryKey: ["waiting", id],
    queryFn: ({ signal }) => askJson<WaitingCall>(pathOf(id), { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });

/** Decides about a call, or answers its question. */
export const settle = (id: string, words: WaitingDecision | WaitingAnswer): Promise<WaitingDecided> =>
  askJson<WaitingDecided>("verdict" in words ? pathOf(id) : `${pathOf(id)}/answer`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(words),
  });
