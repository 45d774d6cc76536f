import type { AuditLog } from "@rockbot/audit";
import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import type { ClaimStore } from "@rockbot/claims";
import { MCP_BRIDGE, mcpTopics } from "@rockbot/contracts";
import type { McpServerHealth } from "@rockbot/mcp";
import type { PolicyHolder } from "@rockbot/policy";
import type { RateStore } from "@rockbot/rates";
import { createIdentity, serveTools } from "@rockbot/tools";
import { publishIndex } from "./directory/index-publisher.ts";
import { manageServers } from "./directory/manage-servers.ts";
import type { McpBridgeConfig } from "./generated/config.ts";
import { observeServers } from "./server-metrics.ts";
import { ServerPool } from "./servers/server-pool.ts";
import { watchServers } from "./servers/watch-servers.ts";
import { McpToolProvider } from "./tools/mcp-tool-provider.ts";

export interface StartMcpBridgeOptions {
  /** What `${NAME}` in the file stands for, and where servers get PATH and the like from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Gets a line for each call. @default nobody */
  readonly audit?: AuditLog | undefined;
  readonly log?: Logger | undefined;
  /** Who may do what, by the names that tools are announced with. @default every caller may use every tool but the dangerous ones */
  readonly policy?: PolicyHolder | undefined;
  /** Keeps calls from running twice, whichever bridge they are delivered to. @default claims of this process alone */
  readonly claims?: ClaimStore | undefined;
  /** What callers have used up. @default counts of this process alone */
  readonly rates?: RateStore | undefined;
  /** Aborting gives up the start; running calls are ended by disposal. */
  readonly signal?: AbortSignal | undefined;
}

export interface McpBridge extends AsyncDisposable {
  /** How each server stands now. */
  readonly servers: readonly McpServerHealth[];
  /** Resolves once each server is connected or has failed for the first time, at most `ms` milliseconds later; what is there by then is announced to whoever probes. */
  settled(ms: number): Promise<void>;
}

/**
 * Puts MCP servers behind the bus: their tools are announced as `{server}__{tool}`, called through `tool.invoke.mcp`, and
 * described on `mcp.manage` and `tool.meta.mcp.{agent}`. Resolves once calls are taken; servers connect by themselves, and their tools
 * are announced as they do. Disposal waits for running calls, at most `shutdownGraceMs`, then ends the servers.
 * @throws {ConfigError} if the file of servers has faults
 */
export async function startMcpBridge(
  bus: Bus,
  { mcpConfig, agents, concurrency, initConcurrency, shutdownGraceMs, auditRequired }: Readonly<McpBridgeConfig>,
  { env, audit, log = silentLogger, policy, claims, rates, signal }: StartMcpBridgeOptions,
): Promise<McpBridge> {
  signal?.throwIfAborted();
  await using started = new AsyncDisposableStack();
  const pool = started.use(new ServerPool({ initConcurrency, drainMs: shutdownGraceMs, log }));
  if (mcpConfig === undefined) log.warn({}, "There are no MCP servers: set MCP_CONFIG to a file that names them");
  else started.use(watchServers(mcpConfig, pool, { env, log }));
  started.use(observeServers(pool));
  const identity = createIdentity(bus, policy);
  started.use(await manageServers(bus, pool, { identity, log }));
  started.use(await publishIndex(bus, pool, { identity, agents, log }));
  const provider = new McpToolProvider(pool);
  started.use(
    await serveTools(bus, provider, {
      service: MCP_BRIDGE,
      topic: mcpTopics.invoke,
      concurrency,
      drainMs: shutdownGraceMs,
      policy,
      claims,
      rates,
      audit,
      isAuditRequired: auditRequired,
      log,
    }),
  );
  const running = started.move();
  return {
    get servers() {
      return pool.servers.map(({ health }) => health);
    },
    async settled(ms) {
      await pool.settled(ms);
      provider.flush();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
