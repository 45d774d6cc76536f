import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { StdioAddress } from "../server-options.ts";

/** Set in the environment of a server and so of all that it starts: by it those are found who have left its process group. */
const MARK = "ROCKBOT_MCP_PROCESS";
/** How long a server gets to end once its input is closed, and again once it is asked to. */
const END_MS = 1_000;
const POLL_MS = 20;

/** A program and everything it starts, as one. */
export interface ProcessTree {
  readonly child: ChildProcessWithoutNullStreams;
  /**
   * Ends all of it: closes the input, then asks, then kills. Resolves when nobody is left, after little more than 2 seconds
   * at most. Idempotent.
   */
  end(): Promise<void>;
}

/** Starts a program in a process group of its own, without a shell. Whether it could be started shows by its events `spawn` and `error`. */
export function startProcessTree({ command, args, env, cwd }: StdioAddress): ProcessTree {
  const mark = randomUUID();
  const child = spawn(command, [...args], {
    env: { ...env, [MARK]: mark },
    cwd,
    detached: true, // the leader of a group of its own, which can be killed as one
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
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
    for (let left = await markedProcesses(mark), round = 0; left.length > 0 && round < 10; left = await markedProcesses(mark), round++) {
      for (const escaped of left) signalProcess(escaped, "SIGKILL");
      await sleep(POLL_MS);
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
  };
}

async function hasEnded(pid: number, withinMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < withinMs; waitedMs += POLL_MS) {
    if (!signalGroup(pid, 0)) return true;
    await sleep(POLL_MS);
  }
  return !signalGroup(pid, 0);
}

/** @returns whether the group had a process left */
const signalGroup = (pid: number, signal: NodeJS.Signals | 0): boolean => signalProcess(process.platform === "win32" ? pid : -pid, signal);

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false; // gone
  }
}

/** The processes that carry the mark, where the system shows environments (Linux, those of the same user). */
async function markedProcesses(mark: string): Promise<number[]> {
  if (process.platform !== "linux") return [];
  const entry = `${MARK}=${mark}`;
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
      return environment.split("\0").includes(entry) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}
