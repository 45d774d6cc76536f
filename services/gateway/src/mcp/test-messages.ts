import type { Answer, startTestGateway } from "../test-gateway.ts";

type TestGateway = Pick<Awaited<ReturnType<typeof startTestGateway>>, "send">;

export const message = (id: number, method: string, params: object = {}): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

export const initialize = message(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "1.0.0" },
});

interface Sender {
  readonly token?: string | undefined;
  readonly session?: string | undefined;
}

export const mcpHeaders = ({ token, session }: Sender = {}): Record<string, string> => ({
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(session === undefined ? {} : { "mcp-session-id": session }),
});

/** One POST to `/mcp`; resolves when its answer has ended. Headers that are undefined are left out. */
export function postMcp(
  gateway: TestGateway,
  body: unknown,
  headers: Readonly<Record<string, string | undefined>> = mcpHeaders(),
): Promise<Answer> {
  const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
  return gateway.send(
    { path: "/mcp", method: "POST", headers: sent },
    typeof body === "string" ? body : JSON.stringify(body),
  );
}

/** @returns the id of a new session */
export async function openSession(gateway: TestGateway, sender: Sender = {}): Promise<string> {
  const { headers } = await postMcp(gateway, initialize, mcpHeaders(sender));
  return String(headers["mcp-session-id"]);
}

/** The request of a client of the newer era that wants to hear of changes. */
export const listen = (id: number): object =>
  message(id, "subscriptions/listen", {
    notifications: { toolsListChanged: true },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  });

export const modernHeaders = (method: string, sender: Sender = {}): Record<string, string> => ({
  ...mcpHeaders(sender),
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
});
