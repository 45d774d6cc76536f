import { readdir, readFile } from "node:fs/promises";

/** Linux counts processor time in ticks of 10 ms. */
const TICK_US = 10_000;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly cpuUs: number;
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

/** User and system time of a process and all below it since their start, in microseconds. */
export async function treeCpuUs(root: number): Promise<number> {
  const processes = await Promise.all((await pids()).map(readProcess));
  const family = new Set([root]);
  let sum = 0;
  for (let size = 0; size !== family.size; ) {
    size = family.size;
    for (const process of processes) if (process !== undefined && family.has(process.parent)) family.add(process.pid);
  }
  for (const process of processes) if (process !== undefined && family.has(process.pid)) sum += process.cpuUs;
  return sum;
}

const pids = async (): Promise<number[]> => (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);

/** Empty if the process has ended. */
const readText = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

async function readProcess(pid: number): Promise<Process | undefined> {
  const stat = await readText(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the name before may contain anything
  if (fields.length < 14) return undefined;
  return { pid, parent: Number(fields[1]), cpuUs: (Number(fields[11]) + Number(fields[12])) * TICK_US };
}
