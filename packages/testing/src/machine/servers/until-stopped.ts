import { readdir, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

const DEADLINE_MS = 10_000;

/** Waits until each thread of a process group stands still after a SIGSTOP, which takes each a moment. Linux only. */
export async function untilStopped(group: number): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await isStopped(group))) {
    if (performance.now() > deadline)
      throw new Error(`The processes of the group ${group} do not stand still after ${DEADLINE_MS} ms`);
    await setTimeout(5);
  }
}

async function isStopped(group: number): Promise<boolean> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const threads = await Promise.all(
    pids.map(async (pid) =>
      (await statOf(`/proc/${pid}`))?.group === group
        ? (await namesIn(`/proc/${pid}/task`)).map((id) => `/proc/${pid}/task/${id}`)
        : [],
    ),
  );
  const states = await Promise.all(threads.flat().map(statOf));
  return states.every((stat) => stat === undefined || ["T", "Z"].includes(stat.state));
}

/** Undefined for one that has ended. */
async function statOf(folder: string): Promise<{ readonly state: string; readonly group: number } | undefined> {
  const stat = await readFile(`${folder}/stat`, "latin1").catch(() => undefined);
  const [state = "", , group] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  return stat === undefined ? undefined : { state, group: Number(group) };
}

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);
