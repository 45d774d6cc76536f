import { spawn } from "node:child_process";

/** Runs the tests of a configuration beside that of `npm test`, and ends this process with their exit code. */
export function runVitest(config: string, args: readonly string[]): void {
  const tests = spawn("vitest", ["run", "--config", config, ...args], { stdio: "inherit" });
  tests.on("error", (error) => {
    console.error(`Cannot run vitest: ${error.message}`);
    process.exitCode = 1;
  });
  tests.on("exit", (code) => {
    process.exitCode = code ?? 1;
  });
}
