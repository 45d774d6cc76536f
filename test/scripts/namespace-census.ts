import { readdirSync, readFileSync, readlinkSync } from "node:fs";

interface LiveProcess {
  readonly pid: number;
  readonly parent: number;
  readonly namespace: string;
  /** Since the machine has started, in the kernel's ticks. */
  readonly startedAt: string;
  readonly isFirst: boolean;
}

/** Has a script print the name of its pid namespace, as they are named here, on its first line of stderr. */
export const PRINT_NAMESPACE = `
import os, sys
print(os.readlink("/proc/self/ns/pid") + "@" + open("/proc/1/stat").read().rpartition(")")[2].split()[19], file=sys.stderr, flush=True)
`;

/**
 * The pid namespaces of this machine in which processes live. The kernel's name for one is another's as soon as the
 * first is gone, so when the first process was started belongs to the name.
 */
export function livePidNamespaces(): ReadonlySet<string> {
  return new Set(named(processes()).map(({ namespace }) => namespace));
}

/** The namespaces that the process and its descendants have made. */
export function pidNamespacesBelow(pid: number): ReadonlySet<string> {
  const all = named(processes());
  const own = all.find((one) => one.pid === process.pid)?.namespace ?? "";
  const found = new Set(descendants(pid, all).map(({ namespace }) => namespace));
  found.delete(own);
  return found;
}

/** The first processes of these namespaces: with one of them all others of its namespace end. */
export const firstProcessesBelow = (pid: number): readonly number[] =>
  descendants(pid, processes()).flatMap((one) => (one.isFirst ? [one.pid] : []));

function descendants(pid: number, all: readonly LiveProcess[]): LiveProcess[] {
  const children = all.filter(({ parent }) => parent === pid);
  return children.flatMap((child) => [child, ...descendants(child.pid, all)]);
}

function named(all: readonly LiveProcess[]): LiveProcess[] {
  const firstStarts = new Map(
    all.filter(({ isFirst }) => isFirst).map(({ namespace, startedAt }) => [namespace, startedAt]),
  );
  return all.map((one) => ({
    ...one,
    namespace: `${one.namespace}@${firstStarts.get(one.namespace) ?? "without its first process"}`,
  }));
}

function processes(): LiveProcess[] {
  return readdirSync("/proc").flatMap((pid): LiveProcess[] => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const isFirst = /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
      return [
        {
          pid: Number(pid),
          parent: Number(fields[1]),
          namespace: readlinkSync(`/proc/${pid}/ns/pid`),
          startedAt: fields[19] ?? "",
          isFirst,
        },
      ];
    } catch {
      return []; // It has ended, or is somebody else's.
    }
  });
}
