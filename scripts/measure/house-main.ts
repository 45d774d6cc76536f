/**
 * Counts how the repository is built, or another checkout of it, such as one of an earlier commit in which `./rockbot
 * --version` has installed what it imports: `npm run measure -- house [--long] [FOLDER]`; a table on stdout. `--long`
 * lists the long functions, and the crowded folders.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { functionsOf, MAX_FUNCTION_LINES, sourceFiles } from "../check/check-functions.ts";
import { countCycles } from "../check/check-layers.ts";

const MAX_FOLDER_FILES = 12;
const TEST = /\.test\.ts$|\/test-[^/]+\.ts$/;

const { values, positionals } = parseArgs({
  options: { long: { type: "boolean", default: false } },
  allowPositionals: true,
});
const root = resolve(positionals[0] ?? dirname(dirname(import.meta.dirname)));
const files = sourceFiles(root);
const sources = files.filter((file) => !TEST.test(file));
const functions = await functionsOf(root, files);
const long = functions.filter(({ lines }) => lines > MAX_FUNCTION_LINES);
const folders = Object.entries(Object.groupBy(sources, (file) => dirname(file))).map(([folder, within = []]) => ({
  folder,
  count: within.length,
}));
const crowded = folders.filter(({ count }) => count > MAX_FOLDER_FILES);

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
const linesOf = (some: readonly string[]): number =>
  some.reduce((sum, file) => sum + textOf(file).split("\n").length - 1, 0);
const ofTests = (file: string): boolean => TEST.test(file) || /^(test|packages\/testing)\//.test(file);
const documents = globSync(["*.md", "docs/**/*.md"], { cwd: root });
const wordsOf = (some: readonly string[]): number =>
  some.reduce((sum, file) => sum + textOf(file).split(/\s+/).length, 0);

console.table({
  "lines of sources": linesOf(files.filter((file) => !ofTests(file))),
  "lines of tests": linesOf(files.filter(ofTests)),
  "npm scripts": Object.keys((JSON.parse(textOf("package.json")) as { scripts: object }).scripts).length,
  "rows of settings": textOf("docs/reference/settings.md").match(/^\| `/gm)?.length ?? 0,
  "words of documents": wordsOf(documents),
  "source files": sources.length,
  "test files": files.length - sources.length,
  functions: functions.length,
  [`functions of more than ${MAX_FUNCTION_LINES} lines`]: long.length,
  "of them without a reason": long.filter(({ reason }) => reason === undefined).length,
  [`folders with more than ${MAX_FOLDER_FILES} source files`]: crowded.length,
  packages: globSync("packages/*/package.json", { cwd: root }).length,
  services: globSync("services/*/package.json", { cwd: root }).length,
  cycles: await countCycles(root),
});
if (values.long) {
  for (const { file, line, name, lines, reason } of long.toSorted((a, b) => b.lines - a.lines))
    console.log(`${lines}  ${file}:${line} ${name}: ${reason ?? ""}`);
  for (const { folder, count } of crowded) console.log(`${count}  ${folder}`);
}
