import { enterSource } from "../generated/enter.ts";
import type { SandboxTree } from "./sandbox-tree.ts";
import type { Inside } from "./way.ts";

/** Nobody's, on most systems; what matters is that it is not root's, and owns nothing. */
const UNPRIVILEGED_USER = 65_534;

/** The command that finishes a sandbox from within and becomes the supervisor. `tree`: what is left to build, if anything. */
export function enterCommand({ python, limits, command }: Inside, { tree, isRoot }: { readonly tree: SandboxTree | null; readonly isRoot: boolean }): string[] {
  const plan = {
    tree,
    storageBytes: limits.storageBytes,
    storageFiles: limits.storageFiles,
    sharedBytes: sharedMemoryBytes(limits.storageBytes),
    user: isRoot ? UNPRIVILEGED_USER : null,
    command,
  };
  return [python.executable, "-I", "-S", "-c", enterSource, JSON.stringify(plan)];
}

/** Of /dev/shm, beside a storage of so many bytes. */
export function sharedMemoryBytes(storageBytes: number): number {
  return Math.ceil(storageBytes / 4);
}
