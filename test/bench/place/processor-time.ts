import { readdir, readFile } from "node:fs/promises";

/** Linux counts processor time in ticks of 10 ms. */
const TICK_US = 10_000;
/** Linux counts memory in pages. */
const PAGE = 4_096;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly cpuUs: number;
  readonly memory: number;
}

/**
 * The process of an Erlang node, in a container or not: its environment names the node, or the container's host.
 * @param name `name@host` @throws {Error} if there is none on this machine
 */
export async function findErlangNode(name: string): Promise<number> {
  const marks = [`RABBITMQ_NODENAME=${name}`, `HOSTNAME=${name.replace(/^.*@/, "")}`];
  for (const pid of await pids()) {
    if (!/beam/.test(await readText(`/proc/${pid}/comm`))) continue;
    const environment = (await readText(`/proc/${pid}/environ`)).split("\0");
    if (marks.some((mark) => environment.includes(mark))) return pid;
  }
  throw new Error(`Cannot measure the broker: no process of this machine is the Erlang node ${name}`);
}

/**
 * User and system time of a process and all below it since their start, in microseconds, with those that have ended.
 */
export const treeCpuUs = async (root: number): Promise<number> =>
  (await treeOf(root)).reduce((sum, { cpuUs }) => sum + cpuUs, 0);

/** What a process and all below it have in memory, in bytes. */
export const treeMemory = async (root: number): Promise<number> =>
  (await treeOf(root)).reduce((sum, { memory }) => sum + memory, 0);

/**
 * What each of these processes has in memory, in bytes, a page that several share in equal parts: the one named first,
 * and those below it.
 * @see https://docs.kernel.org/filesystems/proc.html for `Pss`
 */
export async function memoryByProcess(root: number): Promise<readonly number[]> {
  const processes = (await treeOf(root)).toSorted((a, b) => Number(b.pid === root) - Number(a.pid === root));
  return await Promise.all(
    processes.map(
      async ({ pid }) =>
        1_024 * Number(/^Pss:\s+(\d+) kB/m.exec(await readText(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0),
    ),
  );
}

async function treeOf(root: number): Promise<readonly Process[]> {
  const processes = (await Promise.all((await pids()).map(readProcess))).filter((process) => process !== undefined);
  const family = new Set([root]);
  for (let size = 0; size !== family.size; ) {
    size = family.size;
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid);
  }
  return processes.filter(({ pid }) => family.has(pid));
}

const pids = async (): Promise<number[]> => (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);

/** Empty if the process has ended. */
const readText = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

async function readProcess(pid: number): Promise<Process | undefined> {
  const stat = await readText(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the name before may contain anything
  if (fields.length < 22) return undefined;
  // The last two are of its children that have ended.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(fields[1]), cpuUs: ticks * TICK_US, memory: Number(fields[21]) * PAGE };
}
