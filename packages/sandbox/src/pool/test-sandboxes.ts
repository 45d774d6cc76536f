import { once } from "node:events";
import { PassThrough } from "node:stream";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Frame } from "../job/frames.ts";
import type { Sandbox, SandboxEnd, SandboxMaker } from "../sandbox.ts";

/**
 * A sandbox in memory. Its script is one word: `hold` runs until the sandbox is disposed of, `job` prints what came
 * with it, all others are printed.
 */
export interface TestSandbox extends Sandbox {
  /** Whom it was made for. */
  readonly madeFor: string | undefined;
  /** The jobs that were noted on it. */
  readonly assigned: readonly string[];
  /** Ends it as if from outside. */
  fail(message: string): void;
  /** It has been disposed of. */
  readonly isDisposed: boolean;
}

/** A maker of sandboxes for tests, which remembers what it made. */
export interface TestMaker extends SandboxMaker {
  readonly made: readonly TestSandbox[];
  /** The sandboxes that have not been disposed of. */
  readonly alive: readonly TestSandbox[];
  /** When each was asked for, on the clock of `performance.now()`. */
  readonly asked: readonly number[];
}

/** Hooks of a maker for tests. */
export interface TestMakerOptions {
  /** Called before each is made: what it throws is why there is none. */
  readonly beforeMake?: ((signal: AbortSignal) => Promise<void> | void) | undefined;
  /** Called before each disposal ends. */
  readonly beforeGone?: (() => Promise<void>) | undefined;
  readonly assign?: ((jobId: string, sandbox: TestSandbox) => Promise<void>) | undefined;
  readonly find?: SandboxMaker["find"] | undefined;
}

/** Makes sandboxes in memory that speak the frames. */
export function testMaker({ beforeMake, beforeGone, assign, find }: TestMakerOptions = {}): TestMaker {
  const made: TestSandbox[] = [];
  const asked: number[] = [];
  return {
    kind: "test",
    made,
    asked,
    get alive() {
      return made.filter((sandbox) => !sandbox.isDisposed);
    },
    async make({ signal, jobId }) {
      asked.push(performance.now());
      await beforeMake?.(signal);
      signal.throwIfAborted();
      const sandbox = testSandbox(jobId, { beforeGone, assign });
      made.push(sandbox);
      return sandbox;
    },
    ...(find === undefined ? {} : { find }),
    async [Symbol.asyncDispose]() {
      const leftOver = find === undefined ? made : made.filter(({ assigned }) => assigned.length === 0);
      await Promise.all(leftOver.map((sandbox) => sandbox[Symbol.asyncDispose]()));
    },
  };
}

/** @param madeFor - the job that it is named after */
export function testSandbox(
  madeFor?: string,
  { beforeGone, assign }: Pick<TestMakerOptions, "beforeGone" | "assign"> = {},
): TestSandbox {
  const input = new PassThrough();
  const output = new PassThrough();
  const assigned: string[] = [];
  const gone = Promise.withResolvers<SandboxEnd>();
  let isDisposed = false;
  const say = (frame: Frame): boolean => output.write(`${JSON.stringify(frame)}\n`);
  const end = (message: string): void => {
    gone.resolve({
      isOutOfMemory: false,
      error: new ToolError(ToolErrorCode.ExecutionFailed, message, { details: { reason: "sandbox_lost" } }),
    });
    output.end();
  };
  say({ frame: "ready", python: "3.12.0" });
  void runJobFrom(input, say).catch(() => {});
  const sandbox: TestSandbox = {
    madeFor,
    assigned,
    input,
    output,
    gone: gone.promise,
    get isDisposed() {
      return isDisposed;
    },
    fail: end,
    async assign({ id }) {
      await assign?.(id, sandbox);
      assigned.push(id);
    },
    async [Symbol.asyncDispose]() {
      if (isDisposed) return;
      await beforeGone?.();
      isDisposed = true;
      input.destroy();
      end("The sandbox has been removed.");
    },
  };
  return sandbox;
}

async function runJobFrom(input: PassThrough, say: (frame: Frame) => void): Promise<void> {
  let received = Buffer.alloc(0);
  for await (const chunk of input) {
    received = Buffer.concat([received, chunk]);
    const head = received.indexOf(10);
    if (head < 0) continue;
    const header = JSON.parse(received.subarray(0, head).toString());
    const { job, scriptBytes, inputBytes } = header;
    if (received.length < head + 1 + scriptBytes + (inputBytes ?? 0)) continue;
    const script = received.subarray(head + 1, head + 1 + scriptBytes).toString();
    say({ frame: "started", job });
    if (script === "hold") return void (await once(input, "close"));
    say({ frame: "out", data: Buffer.from(script === "job" ? JSON.stringify(header) : script).toString("base64") });
    say({ frame: "ended", exitCode: 0, signal: null, limit: null, droppedOut: 0, droppedErr: 0, runMs: 1 });
    return;
  }
}
