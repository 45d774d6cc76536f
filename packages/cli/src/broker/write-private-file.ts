import { lstat } from "node:fs/promises";
import { replaceFile } from "@rockbot/records";
import { CommandError } from "../command-error.ts";

/** Rights of the group and of all others. */
const OTHERS = 0o077;

/**
 * Writes a file that only its owner can read, all of it or nothing. One that is there is replaced, unless others can
 * read it: then somebody means it to be read.
 * @throws {CommandError} if there is such a file, or it cannot be written
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  try {
    const before = await lstat(path).catch(() => undefined);
    if (before !== undefined && !before.isFile())
      throw new CommandError(`Cannot write ${path}: something is there that is not a file`);
    if (before !== undefined && (before.mode & OTHERS) !== 0) {
      throw new CommandError(
        `Cannot write ${path}: there is one that others can read. Remove it, or take these rights away (chmod 600)`,
      );
    }
    await replaceFile(path, text);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`Cannot write ${path}: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}`);
  }
}
