import { type Dirent, globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type FoundFunction, findFunctions } from "./find-functions.ts";

export const MAX_FUNCTION_LINES = 80;

/** Folders with sources of ours. */
const FOLDERS = "{packages,services,scripts,test,examples,docs}";
const NOT_WRITTEN_BY_HAND = new Set(["node_modules", "dist", "generated"]);

/** The sources below `root` that people write, relative to it, sorted. */
export function sourceFiles(root: string): string[] {
  const exclude = ({ name }: Dirent): boolean => NOT_WRITTEN_BY_HAND.has(name);
  return globSync(`${FOLDERS}/**/*.{ts,tsx,mjs}`, { cwd: root, withFileTypes: true, exclude })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".d.ts"))
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .sort();
}

/** All functions of these files. */
export async function functionsOf(
  root: string,
  files: readonly string[],
): Promise<(FoundFunction & { readonly file: string })[]> {
  const found = await Promise.all(
    files.map(async (file) =>
      findFunctions(file, await readFile(join(root, file), "utf8")).map((each) => ({ ...each, file })),
    ),
  );
  return found.flat();
}

/**
 * No function is longer than 80 lines, unless the comment directly above it says `Long because: …`.
 *
 * @returns a line that says what was looked at
 * @throws {Error} with one line for each function
 */
export async function checkFunctions(root: string): Promise<string> {
  const functions = await functionsOf(root, sourceFiles(root));
  const long = functions.filter(({ lines }) => lines > MAX_FUNCTION_LINES);
  const faults = long.filter(({ reason }) => reason === undefined);
  if (faults.length > 0)
    throw new Error(
      faults.map(({ file, line, name, lines }) => `${file}:${line}: ${name} has ${lines} lines`).join("\n"),
    );
  return `${functions.length} functions, ${long.length} longer than ${MAX_FUNCTION_LINES} lines with a reason`;
}
