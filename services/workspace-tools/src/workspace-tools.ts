import { type Bus, silentLogger } from "@rockbot/bus";
import { createPolicy, defaultPolicySource, holdPolicy } from "@rockbot/policy";
import { type StartServiceOptions, serveTools } from "@rockbot/tools";
import type { WorkspaceToolsConfig } from "./generated/config.ts";
import { workspaceRoots } from "./roots/workspace-roots.ts";
import { type WorkspaceToolSet, workspaceToolSet } from "./workspace-tool-set.ts";

/** The workspace tools, served. */
export interface RunningWorkspaceTools extends AsyncDisposable {
  readonly off: WorkspaceToolSet["off"];
  readonly notes: WorkspaceToolSet["notes"];
}

/** The parts of the process that the service uses. */
export interface StartWorkspaceToolsOptions extends StartServiceOptions {
  /** Where programs are found. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Serves the workspace tools from the bus. Disposal waits for running calls, at most `shutdownGraceMs`.
 * @throws {ToolError} `unavailable` elsewhere than on Linux
 * @throws {ConfigError} with all faults of the roots
 */
export async function startWorkspaceTools(
  bus: Bus,
  config: Readonly<WorkspaceToolsConfig>,
  { log = silentLogger, signal, policy = holdPolicy(createPolicy(defaultPolicySource())), env = {}, ...options }: StartWorkspaceToolsOptions,
): Promise<RunningWorkspaceTools> {
  signal?.throwIfAborted();
  await using started = new AsyncDisposableStack();
  const roots = await workspaceRoots(config, policy);
  const set = started.use(await workspaceToolSet(config, { roots, log, path: env["PATH"], signal }));
  for (const { tool, reason } of set.off) log.info({ tool, reason }, "a tool is off");
  started.use(
    await serveTools(bus, set, {
      ...options,
      policy,
      concurrency: config.concurrency,
      drainMs: config.shutdownGraceMs,
      isAuditRequired: config.auditRequired,
      log,
    }),
  );
  const running = started.move();
  return { off: set.off, notes: set.notes, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
