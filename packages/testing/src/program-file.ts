import { existsSync } from "node:fs";
import { join, relative } from "node:path";

/** Names the folder in which the run of tests has bundled programs. Without it all start from their sources. */
export const PROGRAM_FOLDER = "ROCKBOT_TEST_PROGRAM_FOLDER";

const ROOT = join(import.meta.dirname, "../../..");

/**
 * What to start for a file of this repository: its bundle, which starts in half the time, where the run of tests has
 * one. Any other file is its own program.
 */
export function programFile(file: string): string {
  const folder = process.env[PROGRAM_FOLDER];
  if (folder === undefined) return file;
  const bundled = join(folder, relative(ROOT, file).replaceAll("/", "-").replace(/\.ts$/, ".mjs"));
  return existsSync(bundled) ? bundled : file;
}
