import { randomBytes } from "node:crypto";
import { open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The end of the name of a file that is being written. */
const TEMPORARY = /\.[0-9a-f]{12}$/;
/** No write takes so long: an older file was left by a process that was killed. */
const STALE_MS = 60_000;

/**
 * Replaces a file as a whole, with one that its user alone can read. Readers see the old or the new content, even if
 * this process is killed or the power fails.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: "wx", flush: true });
    await rename(temporary, file);
    await using folder = await open(dirname(file), "r");
    await folder.sync();
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * Removes what writes of processes that were killed have left in a folder, of the files whose names begin so. It never
 * rejects.
 */
export async function sweepTemporaries(folder: string, prefix = ""): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(prefix) && TEMPORARY.test(each))) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs > STALE_MS) await rm(path, { force: true }).catch(() => {});
  }
}
