import { join } from "node:path";

/** Names the folder in which the run of tests has bundled the programs. Without it they start from their sources. */
export const PROGRAM_FOLDER = "ROCKBOT_TEST_PROGRAM_FOLDER";

const ROOT = join(import.meta.dirname, "../../..");
const BUNDLED: ReadonlyMap<string, string> = new Map([
  [join(ROOT, "packages/cli/src/main.ts"), "main.mjs"],
  [join(ROOT, "services/main.ts"), "services.mjs"],
]);

/**
 * What to start for a file of this repository: the bundle of the command or of the services, which starts in half the
 * time, where the run of tests has one. Any other file is its own program.
 */
export function programFile(file: string): string {
  const folder = process.env[PROGRAM_FOLDER];
  const bundled = BUNDLED.get(file);
  return folder === undefined || bundled === undefined ? file : join(folder, bundled);
}
