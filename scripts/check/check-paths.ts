import { type Dirent, globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";

/** Folders that exist on one machine only. `/home/node` is the user of the container images. */
const MACHINE_PATH = /(?<![\w.:/-])\/(?:home\/(?!node\b)|Users\/|root\/)[\w.-]+/;

/** What .gitignore names, and git's own folder. Read from here, since not every machine that checks has git. */
const IGNORED = new Set([".git", ".tools", "node_modules", "dist", "coverage"]);

/**
 * No file of the repository names a folder of somebody's machine: their home, or where this checkout lies.
 *
 * @returns a line that says what was looked at
 * @throws {Error} with one line for each place
 */
export async function checkPaths(root: string): Promise<string> {
  const exclude = (entry: Dirent): boolean => IGNORED.has(entry.name);
  const files = globSync(["**/*", "**/.*", "**/.*/**/*"], { cwd: root, withFileTypes: true, exclude })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".log"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  const machine = [root, homedir()].filter((folder) => folder.lastIndexOf("/") > 0);
  const faults = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(root, file), "utf8");
      return text.split("\n").flatMap((line, index) => {
        const found = machine.find((folder) => line.includes(`${folder}/`)) ?? MACHINE_PATH.exec(line)?.[0];
        return found === undefined ? [] : [`${file}:${index + 1}: "${found}" exists on one machine only`];
      });
    }),
  );
  if (faults.flat().length > 0) throw new Error(faults.flat().join("\n"));
  return `${files.length} files`;
}
