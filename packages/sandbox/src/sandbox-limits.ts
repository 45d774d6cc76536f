/** The share of the machine that one sandbox may use. */
export interface SandboxLimits {
  /** The memory of all its processes together. */
  readonly memoryBytes: number;
  /** Processes and threads at a time. */
  readonly processes: number;
  /** The bound of the folder that scripts may write to. */
  readonly storageBytes: number;
  /** Files and folders in it. */
  readonly storageFiles: number;
  /** Processors, such as 0.5; held where the platform can. */
  readonly processors: number;
}

/** The limits of a sandbox where no setting says otherwise. */
export const defaultSandboxLimits: SandboxLimits = {
  memoryBytes: 256 * 1024 * 1024,
  processes: 64,
  storageBytes: 64 * 1024 * 1024,
  storageFiles: 10_000,
  processors: 0.5,
};
