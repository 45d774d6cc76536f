import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Not beside the files: another generator removes what it does not know there. From the root of the repository. */
const UNFINISHED = ".tools/unfinished";

/**
 * Writes a text unless the file has it. Who reads meanwhile sees the old text or the new one.
 * @returns whether the file had another
 */
export async function writeIfChanged(file: string, text: string): Promise<boolean> {
  if ((await readFile(file, "utf8").catch(() => undefined)) === text) return false;
  for (const folder of [dirname(file), UNFINISHED]) await mkdir(folder, { recursive: true });
  const unfinished = join(UNFINISHED, randomUUID());
  await writeFile(unfinished, text);
  await rename(unfinished, file);
  return true;
}
