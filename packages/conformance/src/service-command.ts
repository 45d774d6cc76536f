import { spawn } from "node:child_process";
import { once } from "node:events";
import { within } from "@rockbot/base";
import type { ServiceProcess } from "./examiner.ts";

/** A service that is asked to stop has so long: its drain time, and some more. */
const STOP_MS = 30_000;

/**
 * A service as a command of the shell, with all processes that it starts. Its output goes to stderr. Disposal kills it,
 * and it starts no more.
 */
export function serviceCommand(
  command: string,
  env: Readonly<Record<string, string>> = {},
): ServiceProcess & AsyncDisposable {
  let howEnded: string | undefined;
  let running: { readonly pid: number; readonly ended: Promise<number | undefined> } | undefined;
  let isOver = false;
  const signal = (name: NodeJS.Signals): void => {
    try {
      if (running !== undefined) process.kill(-running.pid, name); // the group: a shell may stand between
    } catch {
      // it has ended by itself
    }
  };
  async function end(name: NodeJS.Signals): Promise<number | undefined> {
    signal(name);
    const code = await within(
      STOP_MS,
      running?.ended ?? Promise.resolve(undefined),
      () => new Error(`no end after ${STOP_MS} ms`),
    ).catch(() => {
      signal("SIGKILL");
      return -1;
    });
    running = undefined;
    return code;
  }
  return {
    async start() {
      if (running !== undefined) await end("SIGKILL");
      if (isOver) throw new Error("the run is over");
      const child = spawn(command, {
        shell: true,
        detached: true,
        stdio: ["ignore", 2, 2],
        env: { ...process.env, ...env },
      });
      child.on("error", (error) => (howEnded ??= error.message));
      if (child.pid === undefined) throw new Error(`Cannot start ${JSON.stringify(command)}`);
      howEnded = undefined;
      child.once(
        "exit",
        (code, signal) => (howEnded = code === null ? `was ended by ${signal}` : `exited with code ${code}`),
      );
      running = { pid: child.pid, ended: once(child, "exit").then(([code]) => (code as number | null) ?? undefined) };
    },
    kill: () => end("SIGKILL").then(() => {}),
    stop: () => end("SIGTERM"),
    howEnded: () => howEnded,
    async [Symbol.asyncDispose]() {
      isOver = true;
      await end("SIGKILL");
    },
  };
}
