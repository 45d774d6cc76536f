import { type Bus, silentLogger } from "@rockbot/bus";
import { createPolicy, defaultPolicySource, holdPolicy, type PolicyHolder, type Readers } from "@rockbot/policy";
import { type RunningToolSet, startToolSet } from "@rockbot/process/tool-set";
import type { StartServiceOptions } from "@rockbot/tools";
import { workspaceRoots } from "./files/workspace-roots.ts";
import type { WorkspaceToolsConfig } from "./generated/config.ts";
import { type WorkspaceToolSet, workspaceToolSet } from "./workspace-tool-set.ts";

/** The workspace tools, served. */
export interface RunningWorkspaceTools extends RunningToolSet {
  readonly notes: WorkspaceToolSet["notes"];
}

/** The parts of the process that the service uses. */
export interface StartWorkspaceToolsOptions extends StartServiceOptions {
  readonly policy?: PolicyHolder<Readers<"roots" | "hosts">> | undefined;
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
  {
    log = silentLogger,
    signal,
    policy = holdPolicy(createPolicy(defaultPolicySource())),
    env = {},
    ...options
  }: StartWorkspaceToolsOptions,
): Promise<RunningWorkspaceTools> {
  signal?.throwIfAborted();
  const roots = await workspaceRoots(config, policy);
  const set = await workspaceToolSet(config, { roots, log, path: env["PATH"], signal });
  const running = await startToolSet(bus, set, config, { ...options, policy, log, signal });
  return { ...running, notes: set.notes };
}
