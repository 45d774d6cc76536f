import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { askJson } from "./session.ts";
import type { AuditLines, AuditLogs } from "./types.ts";

/** Narrows a search; an empty text narrows nothing. */
export interface AuditFilter {
  readonly caller?: string;
  readonly tool?: string;
  readonly operator?: string;
  /** Unix milliseconds, as is `before`. */
  readonly after?: number;
  readonly before?: number;
}

const PAGE = 200;

/** Each question leaves a line in each log, so nothing is asked that nobody has asked for. */
const ONCE = { staleTime: Number.POSITIVE_INFINITY, gcTime: 0, refetchOnWindowFocus: false, retry: false } as const;

/** The lines that fit, page by page. @param time of the question: a later one is asked anew */
export const auditLines = (filter: AuditFilter, time: number) =>
  infiniteQueryOptions({
    queryKey: ["audit", filter, time],
    queryFn: ({ pageParam, signal }) => {
      const given = Object.entries(filter).map(([name, value]) => [name, String(value)]);
      const cursor = pageParam === "" ? [] : [["cursor", pageParam]];
      const query = new URLSearchParams([["limit", String(PAGE)], ...given, ...cursor]);
      return askJson<AuditLines>(`/operator/audit?${query}`, { signal });
    },
    initialPageParam: "",
    getNextPageParam: ({ cursor }) => cursor,
    ...ONCE,
  });

export const auditState = queryOptions({
  queryKey: ["audit state"],
  queryFn: ({ signal }) => askJson<AuditLogs>("/operator/audit/state", { signal }),
  ...ONCE,
});
