import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a text unless the file has it. Who reads meanwhile sees the old text or the new one.
 * @returns whether the file had another
 */
export async function writeIfChanged(file: string, text: string): Promise<boolean> {
  if ((await readFile(file, "utf8").catch(() => undefined)) === text) return false;
  await mkdir(dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, text);
  await rename(unfinished, file);
  return true;
}
