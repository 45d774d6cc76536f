import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import type { PolicyHolder } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import type { RateStore } from "@rockbot/records/rates";
import { type ServeToolsOptions, serveTools } from "@rockbot/tools";
import type { WebToolsConfig } from "./generated/config.ts";
import { type WebToolSet, webToolSet } from "./web-tool-set.ts";

/** The parts of the process that the service uses. */
export interface StartWebToolsOptions {
  /** Gets a line for each call. @default nobody */
  readonly audit?: AuditLog | undefined;
  /** Keeps calls of tools with effects from running twice, of which there are none so far. @default claims of this process alone */
  readonly claims?: ServeToolsOptions["claims"];
  readonly log?: Logger | undefined;
  /** Who may do what. @default every caller may use every tool but the dangerous ones */
  readonly policy?: PolicyHolder | undefined;
  /** What callers have used up. @default counts of this process alone */
  readonly rates?: RateStore | undefined;
  /** Aborting gives up the start; running calls are ended by disposal. */
  readonly signal?: AbortSignal | undefined;
}

/** The web tools, served. */
export interface RunningWebTools extends AsyncDisposable {
  readonly off: WebToolSet["off"];
}

/**
 * Serves the web tools from the bus. Disposal waits for running calls, at most `shutdownGraceMs`.
 * @throws {RangeError} if an exception of `allowAddresses` cannot be read
 */
export async function startWebTools(
  bus: Bus,
  config: Readonly<WebToolsConfig>,
  { audit, claims, log = silentLogger, policy, rates, signal }: StartWebToolsOptions = {},
): Promise<RunningWebTools> {
  signal?.throwIfAborted();
  await using started = new AsyncDisposableStack();
  const set = started.use(webToolSet(config));
  for (const { tool, reason } of set.off) log.info({ tool, reason }, "a tool is off");
  started.use(
    await serveTools(bus, set, {
      service: "web-tools",
      topic: "tool.invoke",
      concurrency: config.concurrency,
      drainMs: config.shutdownGraceMs,
      claims,
      policy,
      rates,
      audit,
      isAuditRequired: config.auditRequired,
      log,
    }),
  );
  const running = started.move();
  return { off: set.off, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
