/**
 * `npm test -- [--OPTION=VALUE…] [FILE…]`: the tests of a change. The rest, which `npm run test:system` has, run where a
 * file of theirs is named.
 */
import { runVitest } from "./run-vitest.ts";

const args = process.argv.slice(2);
const namesFiles = args.some((arg) => !arg.startsWith("-"));
process.exitCode = await runVitest(namesFiles ? args : ["--project=alone", "--project=together", ...args]);
