import type { McpCallOptions } from "./connect-mcp.ts";
import { McpServer, type McpServerOptions, type McpServerParts, type McpServerState } from "./mcp-server.ts";
import type { McpServerAddress, McpTool } from "./server-options.ts";

/** The variables that a program gets in a test: enough to run. */
export const testEnv: Readonly<Record<string, string>> = { PATH: process.env["PATH"] ?? "" };

export function startServer(
  address: McpServerAddress,
  options: Partial<McpServerOptions> = {},
  parts: McpServerParts = {},
): McpServer {
  return new McpServer({ name: "tested", address, ...options }, parts);
}

/** Resolves once the server is in one of the states. */
export async function until(server: McpServer, ...states: readonly McpServerState[]): Promise<void> {
  await when(server, () => states.includes(server.health.state));
}

/** Resolves once the condition holds, which is looked at after each change. */
export async function when(server: McpServer, condition: () => boolean): Promise<void> {
  if (condition()) return;
  await new Promise<void>((resolve) => {
    const off = server.onChange(() => {
      if (!condition()) return;
      off();
      resolve();
    });
  });
}

/** Calls a tool by its name. */
export async function callTool(
  server: McpServer,
  name: string,
  args: Record<string, unknown> = {},
  options: Partial<McpCallOptions> = {},
) {
  await until(server, "ready");
  const tool =
    server.tools.find((found) => found.name === name) ??
    ({
      name,
      description: "",
      inputSchema: {},
      annotations: { readOnly: false, idempotent: false, destructive: true, openWorld: true },
    } satisfies McpTool);
  return server.callTool(tool, args, {
    timeoutMs: 15_000,
    signal: new AbortController().signal,
    onProgress: () => {},
    ...options,
  });
}
