import { readdirSync, readlinkSync } from "node:fs";

/** The pid namespaces of this machine in which processes live, as the kernel names them. */
export function livePidNamespaces(): ReadonlySet<string> {
  const names = new Set<string>();
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      names.add(readlinkSync(`/proc/${pid}/ns/pid`));
    } catch {
      // It has ended, or is somebody else's.
    }
  }
  return names;
}
