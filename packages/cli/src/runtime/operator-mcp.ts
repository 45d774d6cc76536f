import type { HttpApp } from "@rockbot/gateway";
import type { BridgedServerHealth } from "@rockbot/mcp-bridge";

/**
 * Where an operator reads how the MCP servers stand, on the socket only: what a server wrote to stderr may hold
 * anything.
 */
export const MCP_PATH = "/operator/mcp";

/** The request of `rockbot mcp ls`: `GET /operator/mcp`. */
export function createMcpApp(servers: () => readonly BridgedServerHealth[] | undefined): HttpApp {
  return { fetch: () => Response.json({ servers: servers() ?? null }) };
}
