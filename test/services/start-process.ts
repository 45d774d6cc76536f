import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface TestProcess extends AsyncDisposable {
  readonly pid: number;
  readonly child: ChildProcess;
  /** What it has written to stdout so far, line by line. */
  readonly lines: readonly string[];
}

/** Starts `node file ...args`; resolves once its first line on stdout says that it is ready. Disposal kills it. */
export async function startProcess(file: string, args: readonly string[]): Promise<TestProcess> {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  const ended = once(child, "exit");
  await Promise.race([
    once(reader, "line"),
    ended.then(([code]) => {
      throw new Error(`Cannot start ${file}: it ended with code ${code}`);
    }),
  ]);
  return {
    pid: child.pid ?? 0,
    child,
    lines,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
