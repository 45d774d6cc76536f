import type { SandboxTree } from "./sandbox-tree.ts";
import type { Inside } from "./way.ts";

/** Nobody's, on most systems; what matters is that it is not root's, and owns nothing. */
export const UNPRIVILEGED_USER = 65_534;

/**
 * The command that finishes a sandbox from within and becomes the supervisor. `tree`: what is left to build, if
 * anything.
 */
export function enterCommand(
  { python, enter, limits, hasSharedZero, command, user = UNPRIVILEGED_USER }: Inside,
  { tree, isRoot }: { readonly tree: SandboxTree | null; readonly isRoot: boolean },
): string[] {
  const plan = {
    tree,
    devices: devicesOf({ hasSharedZero }),
    storageBytes: limits.storageBytes,
    storageFiles: limits.storageFiles,
    sharedBytes: sharedMemoryBytes(limits.storageBytes),
    user: isRoot ? user : null,
    command,
  };
  return [python.executable, "-I", "-S", ...enter, JSON.stringify(plan)];
}

/** What a sandbox sees of /dev. */
export function devicesOf({ hasSharedZero }: Pick<Inside, "hasSharedZero">): readonly string[] {
  return ["null", "full", "random", "urandom", ...(hasSharedZero ? ["zero"] : [])];
}

/** The size of /dev/shm, beside a storage of so many bytes. */
export function sharedMemoryBytes(storageBytes: number): number {
  return Math.ceil(storageBytes / 4);
}
