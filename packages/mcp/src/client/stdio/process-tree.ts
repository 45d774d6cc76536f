import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { pause } from "@rockbot/base";
import type { StdioAddress } from "../server-options.ts";
import { MARK, markedProcesses, newMark } from "./process-mark.ts";

/** How long a server gets to end once its input is closed, and again once it is asked to. */
const END_MS = 1_000;
const POLL_MS = 20;

/** A program and everything it starts, as one. */
export interface ProcessTree {
  readonly child: ChildProcessWithoutNullStreams;
  /**
   * Ends all of it: closes the input, then asks, then kills. Resolves when nobody is left, after little more than 2
   * seconds at most. Idempotent.
   */
  end(): Promise<void>;
  /** Kills its process group at once; `end` sees to the rest. */
  kill(): void;
}

/** Why a program cannot be started here as it is to be, in words; undefined if it can. */
export function obstacleTo({ uid, gid, memoryMib }: StdioAddress): string | undefined {
  const own = { uid: process.getuid?.(), gid: process.getgid?.() };
  const isRoot = own.uid === 0;
  if (uid !== undefined && !isRoot && uid !== own.uid)
    return `it is to run as the user ${uid}, which only a bridge that runs as root can do`;
  if (gid !== undefined && !isRoot && gid !== own.gid)
    return `it is to run as the group ${gid}, which only a bridge that runs as root can do`;
  if (memoryMib !== undefined && process.platform !== "linux")
    return "its memory has a limit, which this system cannot enforce";
  return undefined;
}

/**
 * Starts a program in a process group of its own, without a shell. Its events `spawn` and `error` show whether it could
 * be started.
 */
export function startProcessTree({ command, args, env, cwd, uid: asUser, gid: asGroup }: StdioAddress): ProcessTree {
  const mark = newMark();
  const uid = asUser === process.getuid?.() ? undefined : asUser; // only root may set what is so already, its group with it
  const gid = asGroup ?? uid;
  const child = spawn(command, [...args], {
    env: { ...env, [MARK]: mark },
    cwd,
    detached: true, // the leader of a group of its own, which can be killed as one
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
  child.on("error", () => {}); // told by whoever waits for the start; also that a signal cannot be sent
  child.once("spawn", () => {
    goFirst(child.pid);
    stepBack(child.pid);
  });
  let ending: Promise<void> | undefined;

  async function end(): Promise<void> {
    const { pid } = child;
    if (pid === undefined) return;
    child.stdin.end();
    if (!(await hasEnded(pid, END_MS))) {
      signalGroup(pid, "SIGTERM");
      await hasEnded(pid, END_MS);
    }
    signalGroup(pid, "SIGKILL");
    // A process may start another while it is being looked for, so it is looked for until nobody is found.
    for (
      let left = await carriersOf(mark), round = 0;
      left.length > 0 && round < 10;
      left = await carriersOf(mark), round++
    ) {
      for (const escaped of left) signalProcess(escaped, "SIGKILL");
      await pause(POLL_MS);
    }
    child.stdout.destroy(); // one who has escaped all this may still hold the other end
    child.stderr.destroy();
  }

  return {
    child,
    end() {
      ending ??= end();
      return ending;
    },
    kill() {
      if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    },
  };
}

async function hasEnded(pid: number, withinMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < withinMs; waitedMs += POLL_MS) {
    if (!signalGroup(pid, 0)) return true;
    await pause(POLL_MS);
  }
  return !signalGroup(pid, 0);
}

/** @returns whether the group had a process left */
const signalGroup = (pid: number, signal: NodeJS.Signals | 0): boolean =>
  signalProcess(process.platform === "win32" ? pid : -pid, signal);

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false; // gone
  }
}

async function carriersOf(wanted: string): Promise<number[]> {
  return (await markedProcesses()).flatMap(({ pid, mark }) => (mark === wanted ? [pid] : []));
}

/** Where memory runs out, the system ends this one, and what it starts, before us. */
function goFirst(pid: number | undefined): void {
  if (process.platform === "linux") void writeFile(`/proc/${pid}/oom_score_adj`, "1000").catch(() => {}); // it may be gone
}

/** Where processor time runs out, what calls and answers go through comes before the programs. */
function stepBack(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // it may be gone
  }
}
