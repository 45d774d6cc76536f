import { type Bus, silentLogger } from "@rockbot/bus";
import { type StartServiceOptions, serveTools } from "@rockbot/tools";
import type { WebToolsConfig } from "./generated/config.ts";
import { type WebToolSet, webToolSet } from "./web-tool-set.ts";

/** The parts of the process that the service uses. */
export type StartWebToolsOptions = StartServiceOptions;

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
  { log = silentLogger, signal, ...options }: StartWebToolsOptions,
): Promise<RunningWebTools> {
  signal?.throwIfAborted();
  await using started = new AsyncDisposableStack();
  const set = started.use(webToolSet(config));
  for (const { tool, reason } of set.off) log.info({ tool, reason }, "a tool is off");
  started.use(
    await serveTools(bus, set, {
      ...options,
      concurrency: config.concurrency,
      drainMs: config.shutdownGraceMs,
      isAuditRequired: config.auditRequired,
      log,
    }),
  );
  const running = started.move();
  return { off: set.off, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
