import { version } from "@rockbot/base/version";
import type { Logger } from "@rockbot/bus";
import { type McpHttpServer, serveMcpHttp } from "@rockbot/mcp/standalone";
import type { OpenrouterMcpConfig } from "./generated/config.ts";
import { createOpenRouterApi } from "./openrouter-api.ts";
import { openRouterTools } from "./openrouter-tools.ts";

/** The parts of the process that the server uses. */
export interface StartOpenrouterMcpOptions {
  readonly log?: Logger | undefined;
  /** The settings as they are now, for their token. @default they stay as they are */
  readonly current?: (() => Readonly<OpenrouterMcpConfig>) | undefined;
  /** Aborting ends the waiting of disposal for running requests. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Serves the facts of an OpenRouter account as MCP tools, over Streamable HTTP, to clients that have the token. All
 * tools read: none spends credits, makes keys or changes settings. Disposal waits for running requests, at most
 * `shutdownGraceMs`.
 */
export async function startOpenrouterMcp(
  config: Readonly<OpenrouterMcpConfig>,
  { log, current = () => config, signal }: StartOpenrouterMcpOptions = {},
): Promise<McpHttpServer> {
  const { openrouterBaseUrl, openrouterApiKey, requestTimeoutMs, modelsCacheMs, shutdownGraceMs } = config;
  const api = createOpenRouterApi({
    baseUrl: openrouterBaseUrl,
    apiKey: openrouterApiKey,
    timeoutMs: requestTimeoutMs,
  });
  const served = {
    name: "openrouter",
    version,
    instructions:
      "What an OpenRouter account says of itself: its credits, keys, models and what its generations cost. Everything is read only, and given as JSON.",
    tools: openRouterTools(api, { modelsCacheMs }),
  };
  return serveMcpHttp(served, { ...config, token: () => current().mcpToken, drainMs: shutdownGraceMs, log, signal });
}
