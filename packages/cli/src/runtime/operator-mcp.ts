import type { HttpApp } from "@rockbot/gateway";
import type { BridgedServerHealth } from "@rockbot/mcp-bridge";

/**
 * The request of `rockbot mcp ls`: `GET /operator/mcp`, on the socket only, as what a server wrote to stderr may hold
 * anything.
 */
export function createMcpApp(servers: () => readonly BridgedServerHealth[] | undefined): HttpApp {
  return { fetch: () => Response.json({ servers: servers() ?? null }) };
}
