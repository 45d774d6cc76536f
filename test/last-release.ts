import { execFile, execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";

const root = dirname(import.meta.dirname);
const exec = promisify(execFile);

/** The release from which upgrades are tested. */
export const LAST_RELEASE = "42d1356c";

/** Why nothing can be upgraded from it; undefined if it can. */
export const lacksLastRelease = whyNot();

function whyNot(): string | undefined {
  try {
    execFileSync("git", ["-C", root, "cat-file", "-e", `${LAST_RELEASE}^{commit}`], { stdio: "ignore" });
    return undefined;
  } catch {
    return `skipped: this clone lacks the commit ${LAST_RELEASE}`;
  }
}

/** Clones the repository as a commit has it. @returns the folder */
export async function cloneAt(folder: string, commit: string): Promise<string> {
  await exec("git", ["clone", "--quiet", "--no-hardlinks", root, folder]);
  const { stdout } = await exec("git", ["-C", root, "rev-parse", commit]);
  await exec("git", ["-C", folder, "checkout", "--quiet", stdout.trim()]);
  return folder;
}
