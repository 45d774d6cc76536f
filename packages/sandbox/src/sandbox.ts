import type { Readable, Writable } from "node:stream";
import type { ToolError } from "@rockbot/contracts";
import type { PackedLayer } from "./layer/pack-layer.ts";
import type { ScriptJob } from "./script-runner.ts";

/**
 * An isolated Python interpreter for one script: the supervisor runs in it and has said `ready`. `input` takes the job
 * (`encodeJob`), and `output` gives frames, from the first on.
 */
export interface Sandbox extends AsyncDisposable {
  readonly input: Writable;
  readonly output: Readable;
  /**
   * Resolves when the sandbox is gone, with why as far as it is known from outside: the frames have not told it then.
   * Never rejects.
   */
  readonly gone: Promise<SandboxEnd>;
  /**
   * Notes on the sandbox itself which job it gets, before the job is written.
   * @throws {ToolError} if somebody else has given it one, or its files cannot come out
   */
  assign?(job: Pick<ScriptJob, "id" | "files">): Promise<void>;
  /**
   * A layer of packages as it is sent to this sandbox with the job that wants it. Absent: the sandbox sees all layers
   * by itself, below `PACKAGES_FOLDER`.
   * @throws {ToolError} `too_large`, if it has no room for that; `unavailable`, if there is no such layer any more
   */
  packLayer?(key: string): Promise<PackedLayer>;
  /**
   * Tells whether the kernel has ended a process in it for its memory, where the supervisor does not see that. Never
   * rejects.
   * @default the supervisor sees it
   */
  isOutOfMemory?(): Promise<boolean>;
  /** Kills all processes in it and removes what is left of it. Resolves when they are gone; idempotent. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** How a sandbox ended that has not said so itself. */
export interface SandboxEnd {
  /** Its memory was used up. */
  readonly isOutOfMemory: boolean;
  /** What the answer is if the script was cut off by this. */
  readonly error: ToolError;
  /** The answer if it had not begun. @default error */
  readonly unbegun?: ToolError | undefined;
  /** Nothing that it has said was lost: where it has not said `started`, the script has not begun. @default false */
  readonly hasSaidAll?: boolean | undefined;
}

/** For which job a sandbox is made, and what ends the attempt. */
export interface MakeSandboxOptions {
  readonly signal: AbortSignal;
  /** The job that it is made for, where it is made for one: a maker that takes up jobs names the sandbox after it. */
  readonly jobId?: string | undefined;
}

/**
 * Makes sandboxes of one kind. Disposal removes all that it has made. Where it can `find`, sandboxes with a job stay
 * for a later manager.
 */
export interface SandboxMaker extends AsyncDisposable {
  readonly kind: string;
  /**
   * Which bounds this platform does not hold, and what is so instead, in words for the operator.
   * @default it holds all
   */
  readonly notHeld?: readonly string[] | undefined;
  /** True if its sandboxes carry files in and out. @default false */
  readonly carriesFiles?: boolean | undefined;
  /** True if its sandboxes may stay for hours with one job. @default false */
  readonly lasts?: boolean | undefined;
  /** @throws {ToolError} that says why there can be none now */
  make(options: MakeSandboxOptions): Promise<Sandbox>;
  /**
   * Finds the sandbox that got a job, from any process; its frames come from the first on. Absent: none outlives the
   * process that made it.
   */
  find?(jobId: string, options: { readonly signal: AbortSignal }): Promise<Sandbox | undefined>;
}
