import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * A file of /proc is in memory: reading it at once costs a tenth of a promise for it. So many are read before others
 * have their turn.
 */
const FILES_A_TURN = 50;

export interface ProcessFile {
  readonly pid: number;
  /** The file's bytes as Latin 1. */
  readonly text: string;
}

/**
 * One file of each process of the system (Linux): of those that are there all the while, and whose file may be read.
 */
export async function readProcesses(file: "environ" | "stat"): Promise<ProcessFile[]> {
  const found: ProcessFile[] = [];
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  for (const [index, pid] of pids.entries()) {
    if (index % FILES_A_TURN === FILES_A_TURN - 1) await nextTurn();
    try {
      found.push({ pid: Number(pid), text: readFileSync(`/proc/${pid}/${file}`, "latin1") });
    } catch {
      // it has ended, or is another user's
    }
  }
  return found;
}
