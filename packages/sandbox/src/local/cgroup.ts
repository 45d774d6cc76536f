import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { sharedMemoryBytes } from "./enter-command.ts";

/** The kernel's own count of what one sandbox uses, and its bound. */
export interface Cgroup extends AsyncDisposable {
  /** Counts a process, and what it starts from then on. */
  add(pid: number): Promise<void>;
  /** Tells whether the kernel has ended a process in it for its memory. Never rejects. */
  isOutOfMemory(): Promise<boolean>;
}

/** A bound of all processes of a sandbox together. */
export type HeldBound = "memory" | "processes" | "processors";

/** The cgroups that this process may make, below its own. */
export interface Cgroups {
  /** What they bound; where there are none, nothing. */
  readonly held: ReadonlySet<HeldBound>;
  /** Undefined where none may be made. */
  make(): Promise<Cgroup | undefined>;
}

/** A folder in which each subfolder is a cgroup, and what bounds one. */
interface Hierarchy {
  readonly folder: string;
  readonly holds: readonly HeldBound[];
  readonly settings: Readonly<Record<string, string>>;
  /** The file that counts who was ended for memory. */
  readonly events?: string;
}

/** What the supervisor and the kernel's tables need beside the script. */
const OVERHEAD_BYTES = 32 * 1024 * 1024;
const PERIOD_US = 100_000;
const REMOVAL_TRIES = 50;

const PREFIX = "rockbot-sandbox-";

let made = 0;

/**
 * Finds out by trial where cgroups can be made: of version 1, or of a version 2 whose controllers are handed to this
 * process. What processes that are over have left there is removed.
 */
export async function findCgroups(limits: SandboxLimits): Promise<Cgroups> {
  const usable: Hierarchy[] = [];
  for (const hierarchy of await hierarchies(limits)) {
    const cgroup = await makeCgroup([hierarchy]).catch(() => undefined);
    if (cgroup === undefined) continue;
    await cgroup[Symbol.asyncDispose]();
    usable.push(hierarchy);
    await removeLeftOver(hierarchy.folder);
  }
  return {
    held: new Set(usable.flatMap(({ holds }) => holds)),
    make: () => (usable.length === 0 ? Promise.resolve(undefined) : makeCgroup(usable)),
  };
}

async function makeCgroup(usable: readonly Hierarchy[]): Promise<Cgroup> {
  const name = `${PREFIX}${await markOf(process.pid)}-${++made}`;
  const folders: string[] = [];
  const cgroup: Cgroup = {
    async add(pid) {
      await Promise.all(folders.map((folder) => writeFile(join(folder, "cgroup.procs"), `${pid}`))); // each waits for the kernel, 2 to 20 ms
    },
    async isOutOfMemory() {
      const counts = await Promise.all(
        usable.flatMap(({ folder, events }) =>
          events === undefined ? [] : [readFile(join(folder, name, events), "utf8").catch(() => "")],
        ),
      );
      return counts.some((text) => /^oom_kill [1-9]/m.test(text));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(folders.map(remove));
    },
  };
  try {
    for (const { folder, settings } of usable) {
      await mkdir(join(folder, name));
      folders.push(join(folder, name));
      for (const [file, value] of Object.entries(settings)) await writeFile(join(folder, name, file), value);
    }
    return cgroup;
  } catch (error) {
    await cgroup[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * A process by its number and the time of its start: another one may have its number after it. Undefined where there is
 * none.
 */
async function markOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return text && `${pid}-${text.slice(text.lastIndexOf(")") + 2).split(" ")[19]}`;
}

/** A process that is killed leaves its cgroups; one that still has a process stays. */
async function removeLeftOver(folder: string): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(PREFIX));
  await Promise.all(
    names.map(async (name) => {
      const [, mark, pid] = /^((\d+)-\d+)-\d+$/.exec(name.slice(PREFIX.length)) ?? [];
      if (pid === undefined || (await markOf(Number(pid))) !== mark) await remove(join(folder, name)).catch(() => {});
    }),
  );
}

/** One that has just lost its last process may be busy for a moment. */
async function remove(folder: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await rmdir(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EBUSY" || tries === REMOVAL_TRIES) return;
      await setTimeout(20);
    }
  }
}

async function hierarchies(limits: SandboxLimits): Promise<Hierarchy[]> {
  const memory = `${limits.memoryBytes + limits.storageBytes + sharedMemoryBytes(limits.storageBytes) + OVERHEAD_BYTES}`;
  const quota = Math.round(limits.processors * PERIOD_US);
  const processes = `${limits.processes + 2}`; // the supervisor, and one too many, which shows that the script wanted more
  const [own, mounts] = await Promise.all(
    ["/proc/self/cgroup", "/proc/self/mountinfo"].map((file) => readFile(file, "utf8").catch(() => "")),
  );
  const found: Hierarchy[] = [];
  for (const line of (own as string).trim().split("\n")) {
    const [, controllers = "", path = "/"] = line.split(":", 3);
    const folder = cgroupFolder(mounts as string, controllers, path);
    if (folder === undefined) continue;
    if (controllers === "memory")
      found.push({
        folder,
        holds: ["memory"],
        settings: { "memory.limit_in_bytes": memory },
        events: "memory.oom_control",
      });
    if (controllers === "pids") found.push({ folder, holds: ["processes"], settings: { "pids.max": processes } });
    if (controllers.split(",").includes("cpu")) {
      found.push({
        folder,
        holds: ["processors"],
        settings: { "cpu.cfs_period_us": `${PERIOD_US}`, "cpu.cfs_quota_us": `${quota}` },
      });
    }
    if (controllers === "") {
      await writeFile(join(folder, "cgroup.subtree_control"), "+memory +pids +cpu").catch(() => {});
      const settings = { "memory.max": memory, "pids.max": processes, "cpu.max": `${quota} ${PERIOD_US}` };
      found.push({ folder, holds: ["memory", "processes", "processors"], settings, events: "memory.events" });
    }
  }
  return found;
}

/** Where the cgroup is seen: a container may see a part of a hierarchy only. */
function cgroupFolder(mounts: string, controllers: string, path: string): string | undefined {
  for (const line of mounts.split("\n")) {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root = "/", mountPoint = ""] = before.split(" ");
    const [type, , options = ""] = after.split(" ");
    const isIt =
      controllers === ""
        ? type === "cgroup2"
        : type === "cgroup" && options.split(",").includes(controllers.split(",")[0] as string);
    if (!isIt) continue;
    const below = relative(root, path);
    if (!below.startsWith("..")) return join(mountPoint, below);
  }
  return undefined;
}
