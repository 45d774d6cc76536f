import { readProcesses } from "./read-processes.ts";

export interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Held by a signal, or by a debugger: it does nothing until it is let go. */
  readonly isStopped: boolean;
  /** The processor time so far. */
  readonly cpuMs: number;
}

/** The activity of a program. */
export interface ProcessActivity {
  readonly isStopped: boolean;
  /** The processor time so far, of the program and its children. */
  readonly cpuMs: number;
}

/** The tick of the kernel's clock in its files. */
const TICK_MS = 10;

/** All processes of the system. Linux. */
export async function allProcesses(): Promise<readonly ProcessFacts[]> {
  return (await readProcesses("stat")).map(({ pid, text }) => {
    const [state = "", parent, group, ...more] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [user = 0, system = 0] = more.slice(8, 10).map(Number);
    return {
      pid,
      parent: Number(parent),
      group: Number(group),
      isStopped: /^[Tt]$/.test(state),
      cpuMs: (user + system) * TICK_MS,
    };
  });
}

/** A program's process group, and its descendants. */
export function membersOf(leader: number, processes: readonly ProcessFacts[]): number[] {
  const members = new Set([leader]);
  for (let before = 0; before < members.size; ) {
    before = members.size;
    for (const { pid, parent, group } of processes) if (group === leader || members.has(parent)) members.add(pid);
  }
  return [...members];
}

/** The activity of a program; undefined where the system does not say, or if it is gone. */
export async function activityOf(pid: number): Promise<ProcessActivity | undefined> {
  if (process.platform !== "linux") return undefined;
  const processes = await allProcesses().catch(() => []);
  const leader = processes.find((one) => one.pid === pid);
  if (leader === undefined) return undefined;
  const members = new Set(membersOf(pid, processes));
  return {
    isStopped: leader.isStopped,
    cpuMs: processes.reduce((sum, one) => sum + (members.has(one.pid) ? one.cpuMs : 0), 0),
  };
}
