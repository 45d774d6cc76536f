import { type ChildProcess, spawn } from "node:child_process";
import { putFirst } from "./put-first.ts";
import { untilStopped } from "./until-stopped.ts";

export interface ServerProcessOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** True if it gets the processor before other processes of the machine: see putFirst. @default false */
  readonly comesFirst?: boolean | undefined;
  /** Waits until the server is ready. `explain` says what it has written last. */
  readonly untilReady: (explain: () => Promise<string>) => Promise<void>;
}

/** A server started from an installed program, with all processes below it: they share a process group of their own. */
export interface ServerProcess {
  /** Starts it after `kill`, or for the first time. */
  start(): Promise<void>;
  /** Sends a signal to all its processes, if it runs. */
  signal(name: NodeJS.Signals): void;
  /** Resolves once all its processes stand still. */
  pause(): Promise<void>;
  /** Ends it by SIGKILL; resolves once no process of it is left. */
  kill(): Promise<void>;
}

export function createServerProcess({
  program,
  args,
  env,
  comesFirst = false,
  untilReady,
}: ServerProcessOptions): ServerProcess {
  let output = "";
  let server: ChildProcess | undefined;
  const signal = (name: NodeJS.Signals) => {
    if (server?.pid !== undefined && server.exitCode === null && server.signalCode === null)
      process.kill(-server.pid, name);
  };
  return {
    async start() {
      const started = spawn(program, args, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
      server = started;
      if (comesFirst && started.pid !== undefined) putFirst(started.pid);
      started.on("error", (error) => {
        output = error.message;
      });
      for (const stream of [started.stdout, started.stderr]) {
        stream.on("data", (chunk: Buffer) => {
          output = (output + chunk.toString()).slice(-2_000);
        });
      }
      await untilReady(async () => `it says: ${output.slice(-500)}`);
    },
    signal,
    async pause() {
      signal("SIGSTOP");
      if (server?.pid !== undefined) await untilStopped(server.pid);
    },
    async kill() {
      const ended = server;
      if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
      const closed = new Promise((resolve) => ended.once("close", resolve)); // once no process holds its output any more
      signal("SIGKILL");
      await closed;
    },
  };
}
