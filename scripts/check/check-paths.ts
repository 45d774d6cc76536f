import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** Folders that exist on one machine only. `/home/node` is the user of the container images. */
const MACHINE_PATH = /(?<![\w.:/-])\/(?:home\/(?!node\b)|Users\/|root\/)[\w.-]+/;

/**
 * No file that git would keep names a folder of somebody's machine: their home, or where this checkout lies.
 *
 * @returns a line that says what was looked at
 * @throws {Error} with one line for each place
 */
export async function checkPaths(root: string): Promise<string> {
  const list = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], { cwd: root, encoding: "utf8" });
  const files = list.split("\0").filter((file) => file !== "");
  const machine = [root, homedir()].filter((folder) => folder.lastIndexOf("/") > 0);
  const faults = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(root, file), "utf8").catch(() => ""); // a link, or deleted and not yet committed
      return text.split("\n").flatMap((line, index) => {
        const found = machine.find((folder) => line.includes(`${folder}/`)) ?? MACHINE_PATH.exec(line)?.[0];
        return found === undefined ? [] : [`${file}:${index + 1}: "${found}" exists on one machine only`];
      });
    }),
  );
  if (faults.flat().length > 0) throw new Error(faults.flat().join("\n"));
  return `${files.length} files`;
}
