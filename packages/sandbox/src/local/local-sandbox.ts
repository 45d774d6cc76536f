import { type ChildProcessByStdio, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { within } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Sandbox, SandboxEnd } from "../sandbox.ts";
import { untilReady } from "../supervisor/until-ready.ts";
import type { Cgroup } from "./cgroup.ts";

export interface StartLocalSandboxOptions {
  readonly signal: AbortSignal;
  /** Where programs are looked for. */
  readonly path: string;
  /** Where it is counted, if it can be. */
  readonly cgroup?: Cgroup | undefined;
  /** Removes what is left of it. */
  readonly clean?: (() => Promise<void>) | undefined;
}

type Process = ChildProcessByStdio<Writable, Readable, Readable>;

const READY_MS = 30_000;
const END_MS = 5_000;
const NOTED_BYTES = 4_096;

/**
 * Starts a sandbox as a process of this machine.
 * @throws {Error} that says what its program has said, if it does not come so far as to be ready
 */
export async function startLocalSandbox(
  [file, ...args]: readonly string[],
  { signal, path, cgroup, clean }: StartLocalSandboxOptions,
): Promise<Sandbox> {
  // In a session of its own: keys typed at the terminal of this process are not for the script. No variable of ours
  // goes in.
  const started: Process = spawn(file as string, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { PATH: path },
    cwd: "/",
    detached: true,
  });
  const sandbox = new LocalSandbox(started, cgroup, clean);
  try {
    await untilReady(started.stdout, { signal, timeoutMs: READY_MS });
    await sandbox.count();
    return sandbox;
  } catch (error) {
    await sandbox[Symbol.asyncDispose]();
    signal.throwIfAborted();
    throw new Error(sandbox.said === "" ? (error as Error).message : sandbox.said, { cause: error });
  }
}

class LocalSandbox implements Sandbox {
  readonly input: Writable;
  readonly output: Readable;
  readonly gone: Promise<SandboxEnd>;
  readonly #process: Process;
  readonly #cgroup: Cgroup | undefined;
  readonly #clean: (() => Promise<void>) | undefined;
  readonly #exited: Promise<void>;
  /** The id of the sandbox's first process: when that ends, everything in it ends. */
  #firstId: number | undefined;
  #end: Promise<void> | undefined;
  #said = "";

  constructor(process: Process, cgroup: Cgroup | undefined, clean: (() => Promise<void>) | undefined) {
    this.#process = process;
    this.#cgroup = cgroup;
    this.#clean = clean;
    this.input = process.stdin;
    this.output = process.stdout;
    process.stdin.on("error", () => {}); // the output tells the writer of the end
    process.stderr.on("data", (chunk: Buffer) => {
      this.#said = `${this.#said}${chunk}`.slice(-NOTED_BYTES);
    });
    this.#exited = new Promise((resolve) =>
      process.once("exit", () => resolve()).once("error", (error) => resolve(this.#note(error))),
    );
    this.gone = this.#exited.then(async () => ({
      isOutOfMemory: await this.isOutOfMemory(),
      error: cutOff(this.said),
    }));
  }

  /** The last line of what the sandbox's programs have said of themselves. */
  get said(): string {
    return this.#said.trim().split("\n").at(-1) ?? "";
  }

  /** Has all that the sandbox uses from now on counted: there is nothing in it yet but the supervisor. */
  async count(): Promise<void> {
    const { pid } = this.#process;
    if (pid === undefined) return;
    this.#firstId = await firstProcess(pid);
    await this.#cgroup?.add(this.#firstId ?? pid);
  }

  async isOutOfMemory(): Promise<boolean> {
    return (await this.#cgroup?.isOutOfMemory()) ?? false;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#end ??= this.#dispose();
    return this.#end;
  }

  async #dispose(): Promise<void> {
    this.#kill();
    await within(END_MS, this.#exited, () => new Error("late")).catch(() => this.#process.kill("SIGKILL"));
    this.#process.stdout.destroy();
    this.#process.stderr.destroy();
    await this.#cgroup?.[Symbol.asyncDispose]();
    await this.#clean?.();
  }

  #kill(): void {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    this.input.destroy(); // which the supervisor takes for the end too
    if (this.#firstId === undefined) return;
    try {
      // The kernel ends all other processes of the namespace before it lets the first one go: once that is gone, all
      // are.
      process.kill(this.#firstId, "SIGKILL");
    } catch {
      // It ends by itself.
    }
  }

  #note(error: Error): void {
    this.#said = "code" in error && error.code === "ENOENT" ? "it is not installed" : error.message;
  }
}

/** The first process of the pid namespace that the program has made; none if it has made none. */
async function firstProcess(pid: number): Promise<number | undefined> {
  for (let parent = pid; ; ) {
    const children = await readFile(`/proc/${parent}/task/${parent}/children`, "utf8").catch(() => "");
    const child = Number.parseInt(children, 10);
    if (Number.isNaN(child)) return undefined;
    const status = await readFile(`/proc/${child}/status`, "utf8").catch(() => "");
    if (/^NSpid:.*\t1$/m.test(status)) return child;
    parent = child;
  }
}

/** @param said the last words of the sandbox's programs, for readers of the log */
function cutOff(said: string): ToolError {
  return new ToolError(ToolErrorCode.ExecutionFailed, "The script was cut off: its sandbox ended before it", {
    cause: said === "" ? undefined : new Error(said),
    details: { reason: "sandbox_ended" },
  });
}
