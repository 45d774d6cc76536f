import type { SandboxLimits } from "../../sandbox-limits.ts";
import { supervisorCommand } from "../../supervisor/supervisor-command.ts";

/**
 * What the supervisor has for itself, so that it is still there to tell of a script that takes all the rest; a quarter
 * where there is little.
 */
const SUPERVISOR_BYTES = 32 * 1024 * 1024;

/**
 * What runs first in a script's pod. The end of stdin ends a supervisor that waits for a job, but not a script: a
 * process that takes its job up finds how it ended.
 */
export function scriptCommand(limits: SandboxLimits, packagesBytes: number | undefined): string[] {
  const memoryBytes = limits.memoryBytes - Math.min(SUPERVISOR_BYTES, Math.floor(limits.memoryBytes / 4));
  return supervisorCommand("python3", { ...limits, memoryBytes }, { endsWithInput: false, packagesBytes });
}
