import { readdir, readFile } from "node:fs/promises";

const PAGE_BYTES = 4_096;

/**
 * The memory that the processes of a group have to themselves, in bytes: what they share, such as the program, is
 * counted for none. Undefined where there is no /proc.
 */
export async function groupMemory(group: number): Promise<number | undefined> {
  const names = await readdir("/proc").catch(() => undefined);
  if (names === undefined) return undefined;
  const sizes = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((id) => ownMemory(id, group)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The memory of a process that is of the group and has not ended, else 0. */
async function ownMemory(id: string, group: number): Promise<number> {
  try {
    // The name of a program may hold spaces and brackets: what counts comes after the last of these.
    const fields = (await readFile(`/proc/${id}/stat`, "utf8")).split(") ").at(-1)?.split(" ") ?? [];
    if (Number(fields[2]) !== group) return 0;
    const [, resident = 0, shared = 0] = (await readFile(`/proc/${id}/statm`, "utf8")).split(" ").map(Number);
    return Math.max(0, resident - shared) * PAGE_BYTES;
  } catch {
    return 0; // it has ended meanwhile
  }
}

/** Kills every process of a group that is there. */
export function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // none is left
  }
}
