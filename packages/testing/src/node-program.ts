import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { programFile } from "./program-file.ts";

export interface NodeProgram extends AsyncDisposable {
  readonly pid: number;
  /** What it wrote to stdout so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code once it has ended and all it wrote has come. */
  readonly ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

export interface StartNodeProgramOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** @default this process's folder */
  readonly cwd?: string;
  /** Options of Node itself. */
  readonly nodeArgs?: readonly string[];
  /**
   * True to start it from its sources, also where the run of tests has a bundle.
   * @default false
   */
  readonly isFromSources?: boolean;
  /**
   * True to give it a session of its own: Linux shares the processor out between sessions first, and then between the
   * processes of each.
   * @default false
   */
  readonly hasSession?: boolean;
}

/**
 * Where Node keeps compiled modules, by their content. A program that finds its own there starts in half the time, and
 * without the 30 MB that taking types away takes: as those in images do, which have none.
 */
const COMPILE_CACHE = join(import.meta.dirname, "../../../node_modules/.cache/node-programs");

/**
 * A file of this repository as a real process, with nothing of our environment but what it needs: of the command and of
 * the services their bundle, where the run has one (`programFile`). Disposal kills it.
 */
export function startNodeProgram(
  file: string,
  { args = [], env = {}, cwd, nodeArgs = [], isFromSources = false, hasSession = false }: StartNodeProgramOptions = {},
): NodeProgram {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, [...nodeArgs, isFromSources ? file : programFile(file), ...args], {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: hasSession,
  });
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
