import { readFile } from "node:fs/promises";

/**
 * How often the system counts in a second: `USER_HZ`, which is 100 on Linux for all that programs see.
 * @see man 5 proc_pid_stat
 */
const TICKS_PER_SECOND = 100;

/**
 * The processor time that a process has had, in milliseconds. It is undefined where the system does not say (other than
 * Linux), or once the process is gone.
 */
export async function cpuTimeMs(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => undefined);
  // The second field is the program's name in parentheses, which may hold anything; user and system time are fields 14
  // and 15.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields?.[11]) + Number(fields?.[12]);
  return Number.isFinite(ticks) ? (ticks * 1_000) / TICKS_PER_SECOND : undefined;
}
