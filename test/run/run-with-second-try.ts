/**
 * `npm run test:ci -- [--OPTION=VALUE…] [FILE…]`: the tests of `npm test` and of `npm run test:system`. Where few files
 * failed, they run once more, one after the other and with nothing beside them. If they pass then, the run passes, and
 * names each test that had failed. Their number is noted in the file that ROCKBOT_TEST_NOTE_FILE names, for the last
 * line of a longer output.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { closingLine, type FailedFile, RESULT_FILE, type RunResult, readRunResult } from "./run-result.ts";
import { BUNDLED, runVitest } from "./run-vitest.ts";

/** Where more files fail, they have a cause in common. */
const MOST_FILES = 10;

using folder = temporaryFolder();

/** @returns the exit code, and how the run ended if it got so far */
async function run(name: string, args: readonly string[]): Promise<readonly [number, RunResult | undefined]> {
  const file = join(folder.path, `${name}.json`);
  const code = await runVitest(args, { ...BUNDLED, [RESULT_FILE]: file });
  return [code, readRunResult(file)];
}

/** Both runs as one, in which the files of the second count as they ended there. */
function merged(crowd: RunResult, alone: RunResult): RunResult {
  const others = (kind: "passed" | "skipped") => crowd.files.reduce((sum, file) => sum + file.others[kind], 0);
  return {
    ...alone,
    passed: crowd.passed - others("passed") + alone.passed,
    skipped: crowd.skipped - others("skipped") + alone.skipped,
  };
}

const namesOf = ({ file, tests }: FailedFile): string[] =>
  tests.length === 0 ? [file] : tests.map((test) => `${file} > ${test}`);

async function runAgain(crowd: RunResult, options: readonly string[]): Promise<number> {
  const files = crowd.files.map(({ file }) => file);
  console.log(
    `\n${files.length} of the files failed. They run once more, alone:\n${files.map((file) => `  ${file}\n`).join("")}`,
  );
  const [code, alone] = await run("alone", [...options, "--maxWorkers=1", ...files]);
  if (alone === undefined) return code === 0 ? 1 : code;
  const names = code === 0 ? crowd.files.flatMap(namesOf) : [];
  if (names.length === 0) console.log("\nThey failed again.");
  else console.log(`\n${names.map((name) => `failed in the crowd, passed alone: ${name}`).join("\n")}`);
  const note = names.length === 0 ? "" : `, ${names.length} failed in the crowd and passed alone`;
  console.log(`\n${closingLine(merged(crowd, alone))}${note}`);
  const noteFile = process.env["ROCKBOT_TEST_NOTE_FILE"];
  if (noteFile !== undefined) writeFileSync(noteFile, note);
  return code;
}

const args = process.argv.slice(2);
const [code, crowd] = await run("crowd", args);
const isFew =
  crowd !== undefined && crowd.strayErrors === 0 && crowd.files.length > 0 && crowd.files.length <= MOST_FILES;
const options = args.filter((arg) => arg.startsWith("-"));
process.exitCode = code !== 0 && isFew ? await runAgain(crowd, options) : code;
