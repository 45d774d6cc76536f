import { queryOptions } from "@tanstack/react-query";
import { askJson } from "./session.ts";

/** What waits for an operator, as `GET /operator/mcp/approvals` has it. */
export interface Waiting {
  readonly tools: readonly {
    readonly server: string;
    readonly tool: string;
    readonly hash: string;
    readonly reason: string;
    readonly suspicions: readonly string[];
    readonly changes: readonly string[];
  }[];
  readonly servers: readonly {
    readonly server: string;
    readonly agent: string;
    readonly digest: string;
    readonly lines: readonly string[];
  }[];
}

export const approvals = queryOptions({
  queryKey: ["approvals"],
  queryFn: ({ signal }) => askJson<Waiting>("/operator/mcp/approvals", { signal }),
  refetchInterval: 5_000,
});
