import { type Bus, silentLogger } from "@rockbot/bus";
import { type StartServiceOptions, serveTools, type ToolSet } from "@rockbot/tools";

/** The tools of a service, with the connections and processes that they hold open. */
export interface OwnedToolSet extends ToolSet, AsyncDisposable {
  /** The tools that are left out, and what has to be set for each. */
  readonly off: readonly { readonly tool: string; readonly reason: string }[];
}

/** The settings that `startToolSet` reads. */
export interface ToolSetSettings {
  readonly concurrency: number;
  readonly shutdownGraceMs: number;
  readonly auditRequired: boolean;
}

/** The tools, served. */
export interface RunningToolSet extends AsyncDisposable {
  readonly off: OwnedToolSet["off"];
}

/**
 * The whole start of a service that only serves tools: logs the tools that are off, and serves the rest from the bus.
 * Disposal waits for running calls, at most `shutdownGraceMs`, and then disposes of the set. If the start fails, the
 * set is disposed of, too.
 */
export async function startToolSet(
  bus: Bus,
  set: OwnedToolSet,
  { concurrency, shutdownGraceMs, auditRequired }: Readonly<ToolSetSettings>,
  { log = silentLogger, signal, ...options }: StartServiceOptions,
): Promise<RunningToolSet> {
  await using started = new AsyncDisposableStack();
  started.use(set);
  signal?.throwIfAborted();
  for (const { tool, reason } of set.off) log.info({ tool, reason }, "a tool is off");
  started.use(
    await serveTools(bus, set, {
      ...options,
      concurrency,
      drainMs: shutdownGraceMs,
      isAuditRequired: auditRequired,
      log,
    }),
  );
  const running = started.move();
  return { off: set.off, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
