/**
 * `npm test -- [--OPTION=VALUE…] [FILE…]`: the tests of a change. The rest, which `npm run test:system` has, run where a
 * file or a project of theirs is named. A run of whole projects starts programs as bundles.
 */
import { parseArgs } from "node:util";
import { BUNDLED, runVitest } from "./run-vitest.ts";

const args = process.argv.slice(2);
const { values, positionals: files } = parseArgs({
  args,
  strict: false, // the other options are vitest's
  options: { project: { type: "string", short: "p" }, testNamePattern: { type: "string", short: "t" } },
});
const isChosen = files.length > 0 || values["project"] !== undefined;
process.exitCode = await runVitest(
  isChosen ? args : ["--project=alone", "--project=together", ...args],
  files.length > 0 ? process.env : BUNDLED,
);
