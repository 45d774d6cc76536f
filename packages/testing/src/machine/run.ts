import { execFile } from "node:child_process";

export interface RunOptions {
  readonly timeoutMs: number;
  /** @default this process's */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Its standard input. @default none */
  readonly input?: string | undefined;
}

/**
 * Runs a program to its end.
 * @returns its standard output
 * @throws {Error} with the end of its standard error, if it fails or takes longer
 */
export function run(file: string, args: readonly string[], { timeoutMs, env, input }: RunOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      { timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024, ...(env === undefined ? {} : { env }) },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else
          reject(
            new Error(
              `Cannot run ${file} ${args[0] ?? ""}: ${error.killed === true ? `no end after ${timeoutMs} ms` : stderr.trim().slice(-8000) || error.message}`,
            ),
          );
      },
    );
    if (input === undefined) return;
    child.stdin?.on("error", () => {}); // it has ended without reading all, which its exit code tells
    child.stdin?.end(input);
  });
}
