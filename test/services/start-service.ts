import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";

const root = dirname(dirname(import.meta.dirname));

export interface RunningProcess extends AsyncDisposable {
  readonly pid: number;
  /** What it wrote to stdout so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code once it has ended. */
  readonly ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

/** A program of this repository as a real process, with nothing of our environment but what it needs. */
export function startProgram(
  main: string,
  {
    args = [],
    env = {},
    nodeArgs = [],
  }: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>>; readonly nodeArgs?: readonly string[] } = {},
): RunningProcess {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, [...nodeArgs, join(root, main), ...args], { env: { PATH, HOME, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** A service's own main, once it says that it is ready. */
export async function startService(service: string, env: Readonly<Record<string, string>>): Promise<RunningProcess> {
  return untilReady(service, startProgram(`services/${service}/src/main.ts`, { env }), '"msg":"ready"');
}

/** The tool service of echo-service.ts; each line of its stdout after the first is one run of the tool. */
export async function startEchoService(busUrl: string): Promise<RunningProcess> {
  return untilReady("echo", startProgram("test/services/echo-service.ts", { args: [busUrl], nodeArgs: ["--expose-gc"] }), "ready\n");
}

async function untilReady(name: string, running: RunningProcess, says: string): Promise<RunningProcess> {
  const deadline = performance.now() + 20_000;
  while (!running.stdout().includes(says)) {
    const over = await Promise.race([running.ended.then(() => true), new Promise<boolean>((resolve) => setTimeout(resolve, 20, false))]);
    if (!over && performance.now() < deadline) continue;
    await running[Symbol.asyncDispose]();
    throw new Error(`${name} did not become ready:\n${running.stdout()}${running.stderr()}`);
  }
  return running;
}
