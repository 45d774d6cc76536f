/** What an MCP server says, word for word: no library stands between, which would keep it from being wrong. */
export interface RawAnswers {
  /** The protocol's newer era, of 2026-07-28, or its older one, of 2025-11-25. @default older */
  readonly era?: "older" | "newer" | undefined;
  /** What it says of itself. */
  readonly instructions?: string | undefined;
  /** The definitions in the answer to `tools/list`. */
  readonly tools?: unknown;
  /** The number of definitions in one answer; a cursor gives the rest. @default all */
  readonly pageSize?: number | undefined;
  /** What else is in each answer to `tools/list`. */
  readonly list?: object | undefined;
  /** What a call of a tool is answered with, by its name: the `result`, or the `error`. @default a text */
  readonly calls?: Readonly<Record<string, { readonly result?: unknown; readonly error?: unknown }>> | undefined;
  /** Notifications that come before the answer to a call. */
  readonly before?: readonly { readonly method: string; readonly params?: unknown }[] | undefined;
}

interface RawRequest {
  readonly id?: number | string | undefined;
  readonly method: string;
  readonly params?:
    | { readonly name?: string; readonly cursor?: string; readonly _meta?: { readonly progressToken?: unknown } }
    | undefined;
}

const SERVER = { serverInfo: { name: "raw", version: "1.0.0" }, capabilities: { tools: {}, logging: {} } };

/** The messages that answer a request, as they go over the wire; none to a notification. */
export function rawMessages(answers: RawAnswers, request: RawRequest): readonly object[] {
  const { id, method, params = {} } = request;
  if (id === undefined) return [];
  const isNewer = answers.era === "newer";
  const message = (said: { readonly result?: unknown; readonly error?: unknown }) => ({ jsonrpc: "2.0", id, ...said });
  const complete = (result: unknown) =>
    message({
      result:
        isNewer && typeof result === "object" && result !== null && !Array.isArray(result)
          ? { resultType: "complete", ...result }
          : result,
    });
  if (method === "server/discover" && isNewer)
    return [complete({ supportedVersions: ["2026-07-28"], ttlMs: 0, cacheScope: "private", ...SERVER })];
  if (method === "initialize" && !isNewer)
    return [complete({ protocolVersion: "2025-11-25", instructions: answers.instructions, ...SERVER })];
  if (method === "ping") return [complete({})];
  if (method === "tools/list")
    return [
      complete({
        ...(isNewer ? { ttlMs: 0, cacheScope: "private" } : {}),
        ...page(answers, params.cursor),
        ...answers.list,
      }),
    ];
  if (method !== "tools/call") return [message({ error: { code: -32601, message: "Method not found" } })];
  const said = answers.calls?.[params.name ?? ""] ?? { result: { content: [{ type: "text", text: "fine" }] } };
  const token = params._meta?.progressToken;
  const before = (answers.before ?? []).map(({ method: told, params: given }) => ({
    jsonrpc: "2.0",
    method: told,
    params: told === "notifications/progress" ? { progressToken: token, ...(given as object) } : given,
  }));
  return [...before, "result" in said ? complete(said.result) : message(said)];
}

function page({ tools = [], pageSize }: RawAnswers, cursor: string | undefined): object {
  if (pageSize === undefined || !Array.isArray(tools)) return { tools };
  const from = Number(cursor ?? 0);
  const to = from + pageSize;
  return { tools: tools.slice(from, to), ...(to < tools.length ? { nextCursor: String(to) } : {}) };
}
