import type { Logger } from "@rockbot/bus";
import type { ScriptsManagerConfig } from "./generated/config.ts";
import { openLocalMaker } from "./local/local-maker.ts";
import { pooledRunner } from "./pool/pooled-runner.ts";
import type { SandboxMaker } from "./sandbox/sandbox.ts";
import type { SandboxLimits } from "./sandbox/sandbox-limits.ts";
import type { ScriptRunner } from "./script-runner.ts";

export interface CreateRunnerOptions {
  readonly log: Logger;
  /** Where programs are found, and whether this is a pod of a cluster, where no script is ever run without a sandbox. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

type OpenMaker = (config: Readonly<ScriptsManagerConfig>, options: CreateRunnerOptions) => Promise<SandboxMaker>;

/** Each kind of runner is a maker of sandboxes; all else is the same. */
const makers: Readonly<Record<ScriptsManagerConfig["runner"], OpenMaker>> = {
  local: (config, { env, log, signal }) =>
    openLocalMaker({
      log,
      signal,
      limits: limitsOf(config),
      path: env["PATH"],
      isUnsafe: config.unsafeLocalScripts,
      isInCluster: env["KUBERNETES_SERVICE_HOST"] !== undefined,
    }),
};

/**
 * The runner that the settings name, with its pool of warm sandboxes. Disposal ends what it runs.
 * @throws {ToolError} `unavailable`, in words for the operator, if there can be no sandboxes here
 */
export async function createRunner(config: Readonly<ScriptsManagerConfig>, options: CreateRunnerOptions): Promise<ScriptRunner> {
  const maker = await makers[config.runner](config, options);
  return pooledRunner(maker, {
    floor: config.sandboxFloor,
    ceiling: config.sandboxCeiling,
    idleMs: config.sandboxIdleMs,
    keepBytes: config.keepOutputBytes,
    log: options.log,
  });
}

const MIB = 1024 * 1024;
/** Files and folders for each MiB that they may hold. */
const FILES_PER_MIB = 150;

const limitsOf = ({
  memoryMiB,
  processes,
  processors,
  storageMiB,
}: Pick<ScriptsManagerConfig, "memoryMiB" | "processes" | "processors" | "storageMiB">): SandboxLimits => ({
  memoryBytes: memoryMiB * MIB,
  processes,
  processors,
  storageBytes: storageMiB * MIB,
  storageFiles: storageMiB * FILES_PER_MIB,
});
