import { supervisorSource } from "../generated/supervisor.ts";
import { whole } from "../job/whole.ts";
import { PACKAGES_FOLDER } from "../layer/package-layer.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { PRELOADED_MODULES } from "./preloaded-modules.ts";

/** The preparations of a supervisor before there is a job. */
export interface SupervisorCommandOptions {
  /**
   * Imported before there is a job, as far as they are there, besides what most scripts use of the standard library.
   * @default none
   */
  readonly preload?: readonly string[] | undefined;
  /** True if the end of its input ends a running script, as no reader is left. @default true */
  readonly endsWithInput?: boolean | undefined;
  /** Where scripts may write, as they see it. @default /tmp */
  readonly folder?: string | undefined;
  /** Where packages lie, as scripts see it. @default PACKAGES_FOLDER */
  readonly packagesFolder?: string | undefined;
  /**
   * What it unpacks there at most, of a job that brings its packages with it.
   * @default 0: the maker of the sandbox has put them there
   */
  readonly packagesBytes?: number | undefined;
  /**
   * True if the platform bounds the memory of all processes together: else the supervisor can only count them.
   * @default true
   */
  readonly isMemoryHeld?: boolean | undefined;
  /** The supervisor as the interpreter takes it. @default its source */
  readonly program?: readonly string[] | undefined;
}

/** How many files and sockets one process of a script may have open. */
const OPEN_FILES = 256;

/** The command that starts the supervisor, as the first process of a sandbox. `python`: as it is called there. */
export function supervisorCommand(
  python: string,
  limits: SandboxLimits,
  {
    preload = [],
    endsWithInput = true,
    folder = "/tmp",
    packagesFolder = PACKAGES_FOLDER,
    packagesBytes = 0,
    isMemoryHeld = true,
    program = ["-c", supervisorSource],
  }: SupervisorCommandOptions = {},
): string[] {
  const config = {
    memoryBytes: whole(limits.memoryBytes),
    processes: whole(limits.processes),
    fileBytes: whole(limits.storageBytes),
    openFiles: OPEN_FILES,
    folder,
    packagesFolder,
    packagesBytes: whole(packagesBytes),
    preload: [...PRELOADED_MODULES, ...preload],
    endsWithInput,
    isMemoryHeld,
  };
  return [python, "-I", "-S", "-u", "-X", "utf8", ...program, JSON.stringify(config)];
}
