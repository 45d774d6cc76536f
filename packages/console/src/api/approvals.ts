import { queryOptions } from "@tanstack/react-query";
import { askJson } from "./session.ts";

/** What a stranger says of a tool. */
export interface Definition {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
  readonly annotations: object;
}

/** A definition that waits for an operator, or was rejected by one. */
export interface HeldTool {
  readonly server: string;
  readonly tool: string;
  readonly hash: string;
  readonly reason: string;
  readonly renamedFrom?: string;
  readonly suspicions: readonly string[];
  readonly changes: readonly string[];
  readonly definition?: Definition;
  readonly before?: Definition;
  readonly rejectedBy?: string;
  readonly note?: string;
}

/** A server that an agent asks for. */
export interface AskedServer {
  readonly server: string;
  readonly agent: string;
  readonly digest: string;
  readonly lines: readonly string[];
  readonly rejectedBy?: string;
}

/** A server that an agent has. */
export interface RegisteredServer extends AskedServer {
  /** `the catalogue`, `an allowed host`, or the operator who approved it. */
  readonly by: string;
  readonly at: string;
}

/** An MCP server, an OpenAPI document or an A2A agent, as it stands. */
export interface Source {
  readonly kind: "mcp" | "openapi" | "a2a";
  readonly server: string;
  readonly state: string;
  readonly reason?: string;
  readonly tools: number;
  readonly held: number;
}

interface Lists {
  readonly tools: readonly HeldTool[];
  readonly servers: readonly AskedServer[];
  /** Entries that were left out, as they are too many. */
  readonly more?: number;
  /** Why some services are missing in this, in words. */
  readonly problems?: readonly string[];
}

/** `GET /operator/mcp/approvals`. */
export interface Waiting extends Lists {
  readonly firstSeen?: readonly HeldTool[];
  readonly sources?: readonly Source[];
}

/** What an operator decides about: exactly what was shown. */
export interface Decision {
  readonly action: "approve" | "reject" | "remove";
  /** The tools or the server, in words. */
  readonly what: string;
  readonly tools: readonly HeldTool[];
  readonly servers: readonly AskedServer[];
}

const PATHS = {
  approve: "/operator/mcp/approvals",
  reject: "/operator/mcp/rejections",
  remove: "/operator/mcp/removals",
};
/** Each question leaves lines in audit logs, so it is not asked each second. */
const FRESH_MS = 60_000;

export const approvals = queryOptions({
  queryKey: ["approvals"],
  queryFn: ({ signal }) => askJson<Waiting>(PATHS.approve, { signal }),
  refetchInterval: FRESH_MS,
});

/** What was rejected, which can be approved after all. */
export const rejections = queryOptions({
  queryKey: ["approvals", "rejected"],
  queryFn: ({ signal }) => askJson<Lists>(PATHS.reject, { signal }),
});

/** The servers that agents have. */
export const registrations = queryOptions({
  queryKey: ["approvals", "registered"],
  queryFn: ({ signal }) =>
    askJson<{ readonly servers: readonly RegisteredServer[] }>("/operator/mcp/registrations", { signal }),
});

/** Sends a decision. @returns what it was too late for, as it had changed, and what went wrong besides */
export async function decide({ action, tools, servers }: Decision, note: string) {
  const body = {
    tools: tools.map(({ server, tool, hash, rejectedBy }) => ({ server, tool, hash, rejectedBy })),
    servers: servers.map(({ server, digest, rejectedBy }) => ({ server, digest, rejectedBy })),
    ...(note.trim() === "" ? {} : { note: note.trim() }),
  };
  return askJson<{ readonly stale: readonly string[]; readonly problems?: readonly string[] }>(PATHS[action], {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
