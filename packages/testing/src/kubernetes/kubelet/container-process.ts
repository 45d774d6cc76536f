import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { type ControlGroupLimits, createControlGroup } from "./control-group.ts";
import { machineIsolation } from "./isolation.ts";
import { machinePython } from "./machine-python.ts";

const ENTER = join(import.meta.dirname, "enter-container.sh");
/** The environment of the `python` image. */
const IMAGE_ENVIRONMENT = { PATH: "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8" };
const MAX_SETUP_FAULT = 2_000;
/** How often, and how many times, the first process of a container is looked for that has only just been started. */
const FIRST_TRY_MS = 5;
const FIRST_TRIES = 1_000;

export interface Mount {
  readonly path: string;
  /**
   * Where the folder is, which is a new one: on the disk as much as there is room goes into it, as a kubelet takes its
   * time to look; else in memory.
   */
  readonly isOnDisk: boolean;
  readonly isReadOnly: boolean;
  /** The size of a folder in memory. */
  readonly maxBytes: number;
}

export interface ContainerOptions {
  readonly name: string;
  readonly hostname: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingFolder: string;
  readonly user: number;
  readonly group: number;
  readonly isRootReadOnly: boolean;
  readonly hasNetwork: boolean;
  readonly hasInput: boolean;
  readonly mounts: readonly Mount[];
  readonly limits: ControlGroupLimits;
}

export interface ContainerEnd {
  readonly exitCode: number;
  readonly isOutOfMemory: boolean;
}

/** The processes of one container. */
export interface ContainerProcess {
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves with undefined when its command runs, or with why it could not. */
  readonly started: Promise<string | undefined>;
  /** Resolves when all its processes are gone and their output has been read. */
  readonly ended: Promise<ContainerEnd>;
  kill(): void;
}

/**
 * Runs a command as a container's only one: in namespaces of its own for processes, mounts, network, host name and
 * shared memory, as a user without rights, in a root that shows the machine's programs and one Python, none of its
 * files. Unlike in a real container there is no seccomp filter. All its processes end with this one, however it ends.
 */
export function startContainerProcess(options: ContainerOptions): ContainerProcess {
  const isolation = machineIsolation();
  if (typeof isolation === "string") throw new Error(`Cannot run a container: ${isolation}`);
  const group = createControlGroup(options.name, options.limits);
  const root = mkdtempSync(join(tmpdir(), "rockbot-pod-"));
  mkdirSync(join(root, "root"));
  const steps = [
    ...options.mounts.map((mount, index) => stepOf(mount, join(root, `volume-${index}`))),
    `hostname:${options.hostname}`,
    ...(group?.joinFiles ?? []).map((file) => `cgroup::${file}`),
  ];
  const [program = "", ...args] = [
    ...isolation.enter({ hasNetwork: options.hasNetwork }),
    ...[
      "sh",
      ENTER,
      join(root, "root"),
      machinePython()?.prefix ?? "/usr",
      options.isRootReadOnly ? "ro" : "rw",
      options.workingFolder,
    ],
    ...[...steps, "--", ...isolation.leave(options.user, options.group), "--", ...options.command],
  ];
  const env = { ...IMAGE_ENVIRONMENT, HOSTNAME: options.hostname, HOME: "/", ...options.environment };
  const child = spawn(program, args, {
    cwd: "/",
    env,
    stdio: [options.hasInput ? "pipe" : "ignore", "pipe", "pipe", "pipe"],
  });
  child.stdin?.on("error", () => {}); // it may end without reading all
  let isKilled = false;
  // Not the container's stderr: unshare writes to it too, at its own end.
  const [, stdout, report, stderr] = child.stdio as unknown as [Writable | null, Readable, Readable, Readable];
  return {
    stdin: child.stdin,
    stdout,
    stderr,
    started: new Promise((resolve) => {
      let said = "";
      report.on("data", (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-MAX_SETUP_FAULT);
        if (said.endsWith("ok\n")) resolve(undefined);
      });
      child.once("error", (error) => resolve(error.message));
      child.once("close", () =>
        resolve(said.trim() === "" ? "the container ended before its command ran" : said.trim()),
      );
    }),
    ended: new Promise((resolve) => {
      child.once("close", (exitCode, signal) => {
        const isOutOfMemory = group?.isOutOfMemory() ?? false;
        group?.remove();
        rmSync(root, { recursive: true, force: true });
        // unshare cannot end as its child did if that was SIGKILL, which nothing inside can send it.
        const isSigkill = signal === "SIGKILL" || (exitCode === 1 && (isKilled || isOutOfMemory));
        resolve({ exitCode: isSigkill ? 137 : (exitCode ?? 143), isOutOfMemory });
      });
    }),
    kill() {
      if (isKilled) return;
      isKilled = true;
      killFirst(child);
    },
  };
}

/** How a container comes to see something. */
function stepOf({ path, isOnDisk, isReadOnly, maxBytes }: Mount, newFolder: string): string {
  if (!isOnDisk && !isReadOnly) return `tmpfs:${path}:${maxBytes}`;
  mkdirSync(newFolder);
  chmodSync(newFolder, 0o777); // pods have other users
  return `bind:${path}:${isReadOnly ? "ro" : "rw"}:${newFolder}`;
}

/**
 * Kills the first process in the new namespace, with which all in it end. What has made it is not killed before: one
 * that has only just been made, or is about to give up its rights, would not notice that, and go on.
 */
function killFirst(child: ChildProcess, triesLeft = FIRST_TRIES): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const first = firstChildOf(child.pid);
  if (first !== undefined) killProcess(first);
  else if (triesLeft === 0) child.kill("SIGKILL");
  else setTimeout(killFirst, FIRST_TRY_MS, child, triesLeft - 1);
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

function firstChildOf(pid: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return first === undefined || first === "" ? undefined : Number(first);
  } catch {
    return undefined;
  }
}
