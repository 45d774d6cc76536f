import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { serveTools } from "@rockbot/tools";
import type { WebToolsConfig } from "./generated/config.ts";
import { webToolSet } from "./web-tool-set.ts";

export interface StartWebToolsOptions {
  readonly log?: Logger | undefined;
  /** Aborting gives up the start; running calls are ended by disposal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Serves the web tools from the bus. Disposal waits for running calls, at most `shutdownGraceMs`.
 * @throws {RangeError} if an exception of `allowAddresses` cannot be read
 */
export async function startWebTools(
  bus: Bus,
  config: Readonly<WebToolsConfig>,
  { log = silentLogger, signal }: StartWebToolsOptions = {},
): Promise<AsyncDisposable> {
  signal?.throwIfAborted();
  await using started = new AsyncDisposableStack();
  const set = started.use(webToolSet(config));
  for (const { tool, reason } of set.off) log.info({ tool }, `The tool is off. ${reason}`);
  started.use(
    await serveTools(bus, set, { service: "web-tools", topic: "tool.invoke", concurrency: config.concurrency, drainMs: config.shutdownGraceMs, log }),
  );
  return started.move();
}
