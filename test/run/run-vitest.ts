import { spawn } from "node:child_process";
import { once } from "node:events";

/** Has the tests start the command and services as bundles, which pays for a run of many files: see setUpPrograms. */
export const BUNDLED: NodeJS.ProcessEnv = { ROCKBOT_TEST_PROGRAMS: "bundled", ...process.env };

/**
 * Runs tests, with their output on that of this process.
 * @returns their exit code, 1 if a signal ended them or they cannot be run, which is then said
 */
export async function runVitest(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const tests = spawn("vitest", ["run", ...args], { stdio: "inherit", env });
  try {
    const [code] = await once(tests, "exit");
    return code ?? 1;
  } catch (error) {
    console.error(`Cannot run vitest: ${(error as Error).message}`);
    return 1;
  }
}
