import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const ROOT = "/sys/fs/cgroup";
const FOLDER = "rockbot-test";

export interface ControlGroupLimits {
  readonly memoryBytes: number | undefined;
  readonly cpus: number | undefined;
  readonly processes: number;
}

/** Limits of the kernel that hold for all processes of a container together. */
export interface ControlGroup {
  /** A process that writes 0 to them belongs to the group from then on. */
  readonly joinFiles: readonly string[];
  /** Tells whether one of its processes was killed for want of memory. */
  isOutOfMemory(): boolean;
  /** Removes the group once its processes are gone; until then it does nothing. */
  remove(): void;
}

/** Undefined where this process may make none: then only the time of a container is limited. */
export function createControlGroup(name: string, limits: ControlGroupLimits): ControlGroup | undefined {
  try {
    return existsSync(join(ROOT, "cgroup.controllers")) ? unified(name, limits) : split(name, limits);
  } catch {
    return undefined;
  }
}

const CPU_PERIOD_US = 100_000;

function unified(name: string, { memoryBytes, cpus, processes }: ControlGroupLimits): ControlGroup {
  writeFileSync(join(ROOT, "cgroup.subtree_control"), "+memory +pids +cpu");
  const parent = makeParent(ROOT);
  writeFileSync(join(parent, "cgroup.subtree_control"), "+memory +pids +cpu");
  const folder = makeFolder(parent, name);
  writeFileSync(join(folder, "pids.max"), String(processes));
  if (cpus !== undefined)
    writeFileSync(join(folder, "cpu.max"), `${Math.round(cpus * CPU_PERIOD_US)} ${CPU_PERIOD_US}`);
  if (memoryBytes !== undefined) {
    writeFileSync(join(folder, "memory.max"), String(memoryBytes));
    writeFileSync(join(folder, "memory.oom.group"), "1");
  }
  return {
    joinFiles: [join(folder, "cgroup.procs")],
    isOutOfMemory: () => hasKilled(join(folder, "memory.events")),
    remove: () => removeFolder(folder),
  };
}

function split(name: string, { memoryBytes, cpus, processes }: ControlGroupLimits): ControlGroup {
  const [memory, pids, cpu] = ["memory", "pids", "cpu"].map((controller) =>
    makeFolder(makeParent(join(ROOT, controller)), name),
  ) as [string, string, string];
  writeFileSync(join(pids, "pids.max"), String(processes));
  if (cpus !== undefined) writeFileSync(join(cpu, "cpu.cfs_quota_us"), String(Math.round(cpus * CPU_PERIOD_US)));
  if (memoryBytes !== undefined) writeFileSync(join(memory, "memory.limit_in_bytes"), String(memoryBytes));
  const folders = [memory, pids, cpu];
  return {
    joinFiles: folders.map((folder) => join(folder, "cgroup.procs")),
    isOutOfMemory: () => hasKilled(join(memory, "memory.oom_control")),
    remove: () => folders.forEach(removeFolder),
  };
}

function hasKilled(file: string): boolean {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1] ?? 0) > 0;
  } catch {
    return false;
  }
}

/** Groups of processes that were killed before they could remove them go now. */
function makeParent(controller: string): string {
  const parent = join(controller, FOLDER);
  mkdirSync(parent, { recursive: true });
  for (const entry of readdirSync(parent, { withFileTypes: true })) {
    if (entry.isDirectory() && !existsSync(`/proc/${entry.name.split("-", 1)[0]}`))
      removeFolder(join(parent, entry.name));
  }
  return parent;
}

function makeFolder(parent: string, name: string): string {
  const folder = join(parent, basename(`${process.pid}-${name}`));
  mkdirSync(folder);
  return folder;
}

function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody is still in it, or it is gone.
  }
}
