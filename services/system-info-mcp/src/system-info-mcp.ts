import type { Logger } from "@rockbot/bus";
import { type McpHttpServer, serveMcpHttp } from "@rockbot/mcp/standalone";
import type { SystemInfoMcpConfig } from "./generated/config.ts";
import { systemInfoTools } from "./system-info-tools.ts";
import type { Runtime } from "./tools/system-info.ts";

/** The runtime that the server reads, and the log. */
export interface StartSystemInfoMcpOptions {
  /** This process. */
  readonly runtime: Runtime;
  readonly log?: Logger | undefined;
  /** The settings as they are now, for their token. @default they stay as they are */
  readonly current?: (() => Readonly<SystemInfoMcpConfig>) | undefined;
  /** Aborting ends the waiting of disposal for running requests. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Serves the facts of this machine as MCP tools, over Streamable HTTP, to clients that have the token. In a container
 * it sees what the container sees. Disposal waits for running requests, at most `shutdownGraceMs`.
 */
export function startSystemInfoMcp(
  config: Readonly<SystemInfoMcpConfig>,
  { runtime, log, current = () => config, signal }: StartSystemInfoMcpOptions,
): Promise<McpHttpServer> {
  const { shutdownGraceMs } = config;
  return serveMcpHttp(systemInfoTools(runtime), {
    ...config,
    token: () => current().mcpToken,
    drainMs: shutdownGraceMs,
    log,
    signal,
  });
}
