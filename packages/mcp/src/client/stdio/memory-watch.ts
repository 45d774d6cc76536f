import { readFile } from "node:fs/promises";
import { allProcesses, membersOf } from "./process-family.ts";

/** How often the memory of limited programs is looked at. */
const EVERY_MS = 500;

interface Watched {
  readonly pid: number;
  readonly maxMib: number;
  readonly onExceeded: (mib: number) => void;
}

const watched = new Set<Watched>();
let isLooking = false;

/**
 * Watches, until disposed, the memory of a program with its process group and its descendants. It calls `onExceeded`
 * once if they have more than `maxMib` together. The system's own limits are of one process each, or count memory that
 * is reserved and not used. Some runtimes reserve a hundred times the memory that they use. Linux only.
 */
export function watchMemory(pid: number, maxMib: number, onExceeded: (mib: number) => void): Disposable {
  const entry: Watched = { pid, maxMib, onExceeded };
  watched.add(entry);
  lookSoon();
  return { [Symbol.dispose]: () => void watched.delete(entry) };
}

/** One timer for all: most of the work is to read what processes there are. */
function lookSoon(): void {
  if (isLooking) return;
  isLooking = true;
  setTimeout(async () => {
    await look().catch(() => {}); // what cannot be read now is read next time
    isLooking = false;
    if (watched.size > 0) lookSoon();
  }, EVERY_MS).unref();
}

async function look(): Promise<void> {
  const processes = await allProcesses();
  for (const entry of [...watched]) {
    const members = membersOf(entry.pid, processes);
    const sizes = await Promise.all(members.map(residentKib));
    const mib = Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024);
    if (mib > entry.maxMib && watched.delete(entry)) entry.onExceeded(mib);
  }
}

async function residentKib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
}
