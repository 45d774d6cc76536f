import { constants } from "node:os";
import { within } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Sandbox } from "../sandbox.ts";
import { type ScriptJob, ScriptLimit, type ScriptOutcome } from "../script-runner.ts";
import { followCells } from "./cell-frames.ts";
import { createChannel } from "./channel.ts";
import { encodeJob } from "./encode-job.ts";
import type { Frame } from "./frames.ts";
import { KeptText } from "./kept-text.ts";
import { readFrames } from "./read-frames.ts";
import { ReceivedFiles } from "./received-files.ts";
import { ShownBytes } from "./shown-bytes.ts";
import { writeTo } from "./write-to.ts";

/** The signal that ends a job, and how much of its output is kept. */
export interface RunJobOptions {
  /** Disposes of the sandbox at once. */
  readonly signal: AbortSignal;
  /** The bound for stdout, and for stderr. */
  readonly keepBytes: number;
  /** How much more of the end of each, where there is more. @default 0 */
  readonly tailBytes?: number | undefined;
  /**
   * Receives output while it is written: all kept bytes, and for longer output now and then its present end
   * (`isLater`). Must not throw.
   */
  readonly onOutput?: ((bytes: Buffer, isLater: boolean) => void) | undefined;
  /**
   * When the script has to have ended, whatever time it was given, on the clock of `performance.now()`.
   * @default never
   */
  readonly endBy?: number | undefined;
}

/** The outcome of a job, as far as the sandbox knows it. */
export interface JobOutcome extends Omit<ScriptOutcome, "durations" | "isWarm"> {
  /** The end of the output, where something is missing between what is kept and it. */
  readonly tail: { readonly stdout: string; readonly stderr: string };
  /** From the script's first line to its end. */
  readonly runMs: number;
}

type Ended = Extract<Frame, { frame: "ended" }>;

/**
 * How much later than a script's time is over its sandbox is ended from outside, should the supervisor be kept from it;
 * of one that has to have ended by then, less.
 */
const OVERDUE_MS = 2_000;
const OVERDUE_ANSWER_MS = 250;
/** How long all files of a script may take. */
const FILES_MS = 60_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Who has stood still finds its timers due before it has read what came meanwhile. */
const READ_FIRST_MS = 50;

/** How long the reason why a sandbox is gone is waited for, once its frames have ended. */
const GONE_MS = 5_000;

/**
 * Runs a job in a sandbox, or follows it there where it has been started before. The caller disposes of the sandbox.
 * `keepBytes` bounds what it keeps of the output, however much the sandbox writes.
 * @throws {ToolError} the sandbox's own, if it ends before the script; `execution_failed`, if it fails by itself or
 * writes something unreadable; the signal's reason
 */
export async function runJob(sandbox: Sandbox, job: ScriptJob, options: RunJobOptions): Promise<JobOutcome> {
  const { signal } = options;
  signal.throwIfAborted();
  const given = Promise.withResolvers<never>();
  given.promise.catch(() => {});
  const abort = (): void => {
    sandbox[Symbol.asyncDispose]().catch(ignored); // a second disposal reports that
    given.reject(signal.reason);
  };
  signal.addEventListener("abort", abort, { once: true });
  sandbox.input.on("error", ignored); // its output shows that nobody reads it any more
  try {
    const send = (): void => void sendJob(sandbox, job, options).catch(given.reject);
    return await Promise.race([follow(sandbox, job, { ...options, send }), given.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Resolves once the job is written, or its reader is gone: the sandbox's frames say why.
 * @throws {ToolError} if what it needs cannot be sent; the signal's reason
 */
async function sendJob(sandbox: Sandbox, job: ScriptJob, { signal, ...options }: RunJobOptions): Promise<void> {
  const layer = job.packages === undefined ? undefined : await sandbox.packLayer?.(job.packages.key);
  for await (const chunk of encodeJob(job, { ...options, layer }))
    if (!(await writeTo(sandbox.input, chunk, signal))) return;
}

interface FollowOptions extends RunJobOptions {
  readonly send: () => void;
}

async function follow(sandbox: Sandbox, job: ScriptJob, options: FollowOptions): Promise<JobOutcome> {
  const { send, keepBytes, tailBytes, onOutput, endBy = Number.POSITIVE_INFINITY, signal } = options;
  const files = job.files === undefined ? undefined : new ReceivedFiles(job.files);
  const out = new KeptText(keepBytes, tailBytes);
  const err = new KeptText(keepBytes, tailBytes);
  const shown = new ShownBytes(job.shownBytes ?? 0);
  let isSent = false;
  let timeoutMs: number | undefined;
  let startedAt = 0;
  let filesBy: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOverdue = false;
  const leftMs = (): number => Math.min(startedAt + (timeoutMs ?? job.timeoutMs), endBy) - performance.now();
  const channel =
    job.messages === undefined ? undefined : createChannel(sandbox.input, job.messages, { signal, leftMs });
  const cells = job.cells === undefined ? undefined : followCells(job.cells, sandbox.input, { signal, keepBytes });
  const readFirst = (): void => {
    timer = setTimeout(endOverdue, READ_FIRST_MS);
  };
  const endOverdue = (): void => {
    isOverdue = true;
    sandbox[Symbol.asyncDispose]().catch(ignored);
    sandbox.output.destroy();
  };
  try {
    for await (const frame of readFrames(sandbox.output)) {
      if (cells !== undefined && (await cells.take(frame))) continue;
      // The supervisor takes one job only: written to a sandbox that has one already, this does nothing.
      if (frame.frame === "ready" && timeoutMs === undefined) {
        isSent = true;
        send();
      } else if (frame.frame === "started") {
        if (frame.job !== job.id) throw notOurs();
        timeoutMs = frame.timeoutMs ?? job.timeoutMs;
        startedAt = performance.now();
        cells?.start();
        timer ??= setTimeout(readFirst, overdueMs(timeoutMs, endBy - startedAt));
      } else if (frame.frame === "file") {
        clearTimeout(timer); // the script has ended, and its files take their time
        filesBy ??= Math.min(performance.now() + FILES_MS, endBy + OVERDUE_ANSWER_MS);
        timer = setTimeout(endOverdue, Math.max(0, filesBy - performance.now()));
        await files?.begin(frame.name);
      } else if (frame.frame === "fileData") {
        await files?.add(Buffer.from(frame.data, "base64"));
      } else if (frame.frame === "shown") {
        shown.add(Buffer.from(frame.data, "base64"));
      } else if (frame.frame === "message") {
        channel?.take(Buffer.from(frame.data, "base64"));
      } else if ("data" in frame) {
        takeOutput(frame, { out, err, onOutput });
      } else if (frame.frame === "ended") {
        await files?.end();
        const end = outcome(await withKernelsWord(frame, sandbox), timeoutMs ?? job.timeoutMs, out, err);
        return { ...end, shown: shown.end() };
      } else if (frame.frame === "failed") throw failed(frame.reason);
    }
  } catch (error) {
    if (error instanceof ToolError) throw error;
    // The stream broke, which is one way for a sandbox to be gone.
  } finally {
    clearTimeout(timer);
    files?.cut();
  }
  if (isOverdue)
    return outcome(
      { ...nothingSaid, limit: ScriptLimit.Time, runMs: performance.now() - startedAt },
      timeoutMs ?? job.timeoutMs,
      out,
      err,
    );
  const end = await within(GONE_MS, sandbox.gone, silent);
  if (timeoutMs !== undefined && end.isOutOfMemory)
    return outcome(
      { ...nothingSaid, limit: ScriptLimit.Memory, runMs: performance.now() - startedAt },
      timeoutMs,
      out,
      err,
    );
  const hasNotBegun = timeoutMs === undefined && (!isSent || end.hasSaidAll === true);
  throw hasNotBegun ? (end.unbegun ?? end.error) : end.error;
}

function overdueMs(timeoutMs: number, leftMs: number): number {
  return Math.min(timeoutMs + OVERDUE_MS, Math.max(0, leftMs) + OVERDUE_ANSWER_MS, LONGEST_TIMER_MS);
}

function takeOutput(
  { frame, data }: Extract<Frame, { data: string }>,
  { out, err, onOutput }: { readonly out: KeptText; readonly err: KeptText } & Pick<RunJobOptions, "onOutput">,
): void {
  const bytes = Buffer.from(data, "base64");
  if (frame === "out") out.add(bytes);
  else if (frame === "err") err.add(bytes);
  else if (frame === "outTail") out.addTail(bytes);
  else if (frame === "errTail") err.addTail(bytes);
  if (!frame.endsWith("Tail")) onOutput?.(bytes, frame === "now");
}

/** A script that fails as the kernel took its memory, or that of a process of its, looks as if it had crashed. */
async function withKernelsWord(ended: Ended, sandbox: Sandbox): Promise<Ended> {
  if (ended.exitCode === 0 || ended.limit !== null || (await sandbox.isOutOfMemory?.()) !== true) return ended;
  return { ...ended, exitCode: null, signal: null, limit: ScriptLimit.Memory };
}

function outcome(
  { exitCode, signal, limit, droppedOut, droppedErr, runMs, strangers = 0, passedFiles = 0 }: Ended,
  timeoutMs: number,
  out: KeptText,
  err: KeptText,
): JobOutcome {
  const stdout = out.end(droppedOut);
  const stderr = err.end(droppedErr);
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    tail: { stdout: stdout.tail, stderr: stderr.tail },
    droppedBytes: { stdout: stdout.droppedBytes, stderr: stderr.droppedBytes },
    exitCode,
    signal: signal === null ? null : signalName(signal),
    limit,
    timeoutMs,
    runMs,
    strangers,
    passedFiles,
  };
}

function signalName(number: number): string {
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return name ?? `signal ${number}`;
}

/** All of the sandbox was ended from outside, the supervisor too: it could not say so any more. */
const nothingSaid: Omit<Ended, "limit" | "runMs"> = {
  frame: "ended",
  exitCode: null,
  signal: null,
  droppedOut: 0,
  droppedErr: 0,
};

function failed(reason: string): ToolError {
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `The script was ended by a fault of its sandbox, not its own: ${reason}. This is for the operator to set right, whose log has the same.`,
    { details: { reason: "sandbox_failed" } },
  );
}

function silent(): ToolError {
  return new ToolError(ToolErrorCode.ExecutionFailed, "The script was cut off: its sandbox has stopped answering", {
    details: { reason: "sandbox_silent" },
  });
}

function notOurs(): ToolError {
  return new ToolError(ToolErrorCode.ExecutionFailed, "The script was not run: its sandbox was given another one", {
    details: { reason: "sandbox_taken" },
  });
}

function ignored(): void {}
