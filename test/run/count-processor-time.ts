/**
 * Notes with each test file the processor time that it takes, with its imports and the processes that it ends: for
 * SlowestFilesReporter.
 */
import { readFileSync } from "node:fs";
import { afterAll } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** The processor time of a file. Absent where the system does not tell, as Linux does. */
    processorSeconds?: number;
  }
}

/** Linux counts in these, on all machines. */
const TICKS_PER_SECOND = 100;

/** The processor time of this process, and of its ended children. */
function processorSeconds(): number {
  try {
    // Behind the program's name, which may hold anything, utime, stime, cutime and cstime are the fields 12 to 15.
    const fields = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}

const before = processorSeconds();

// biome-ignore lint/correctness/noEmptyPattern: vitest reads from the first parameter which fixtures it has to make
afterAll(({}, file) => {
  const seconds = processorSeconds() - before;
  if (!Number.isNaN(seconds)) file.meta.processorSeconds = seconds;
});
