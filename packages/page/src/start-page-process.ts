import { type ChildProcess, fork } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { within } from "@rockbot/base";
import { cpuTimeMs } from "@rockbot/base/cpu-time";
import { memoryBytes } from "./memory-bytes.ts";
import type { PageJob, PageOutcome } from "./page-job.ts";

/** A process that converts one page at a time. Disposal ends it, whatever it does, and waits until it is gone. */
export interface PageProcess extends AsyncDisposable {
  readonly hasEnded: boolean;
  /** The processor time that it has used, in milliseconds; undefined where the system does not say. */
  cpuTimeMs(): Promise<number | undefined>;
  /** The memory that it holds, in bytes; undefined where the system does not say. */
  memoryBytes(): number | undefined;
  /**
   * After a rejection the process is of no more use.
   * @throws {PageProcessEndedError}, or the signal's reason once it aborts
   */
  convert(job: PageJob, signal: AbortSignal): Promise<PageOutcome>;
}

/** The process ended by itself before it answered. */
export class PageProcessEndedError extends Error {
  override readonly name = "PageProcessEndedError";
  /** What killed it, such as SIGABRT when V8 runs out of memory; null if it chose to end, or never began. */
  readonly killedBy: NodeJS.Signals | null;

  constructor(killedBy: NodeJS.Signals | null, message: string, options?: ErrorOptions) {
    super(message, options);
    this.killedBy = killedBy;
  }
}

export interface StartPageProcessOptions {
  /**
   * The bound of V8's old generation, in MiB. It does not hold inside native code, which is why this is a process and
   * no thread.
   */
  readonly maxHeapMb: number;
  readonly signal: AbortSignal;
}

/** The program beside this file, in the sources as in a bundle. */
const PROGRAM = fileURLToPath(new URL(`./page-process-main${extname(import.meta.url)}`, import.meta.url));
/**
 * What glibc reads: one arena for all threads, and a place of its own for each large buffer. Else it keeps what pages
 * have left, which was 14 of the 196 MB that `npm run measure -- browse` shows with one converter.
 */
const MEMORY_GIVEN_BACK = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "131072" };
/** Some seconds on an idle machine. A crowded one takes its time, and the signal of a call bounds it besides. */
const START_TIMEOUT_MS = 30_000;

/**
 * Starts a process that converts pages. It gets nothing of the environment, and does not keep this process alive.
 * @throws {PageProcessEndedError} if it does not get ready, or the signal's reason once it aborts
 */
export async function startPageProcess({ maxHeapMb, signal }: StartPageProcessOptions): Promise<PageProcess> {
  signal.throwIfAborted();
  const child = forkConverter(maxHeapMb);
  let end: PageProcessEndedError | undefined;
  /** Fails the answer that the caller waits for. */
  let failAnswer: ((error: PageProcessEndedError) => void) | undefined;
  const ended = new Promise<void>((resolve) => {
    const finish = (error: PageProcessEndedError): void => {
      end ??= error;
      failAnswer?.(end);
      resolve();
    };
    child.once("exit", (code, killedBy) => {
      finish(
        new PageProcessEndedError(
          killedBy,
          killedBy === null ? `it ended with exit code ${code}` : `it was ended by ${killedBy}`,
        ),
      );
    });
    child.on("error", (cause) => {
      if (child.pid === undefined) finish(new PageProcessEndedError(null, "the system refuses it", { cause }));
    });
  });

  async function answer(given: AbortSignal): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const giveUp = (): void => reject(given.reason);
    given.addEventListener("abort", giveUp, { once: true });
    child.once("message", resolve);
    failAnswer = reject;
    if (given.aborted) giveUp();
    if (end !== undefined) reject(end);
    try {
      return await promise;
    } finally {
      given.removeEventListener("abort", giveUp);
      child.off("message", resolve);
    }
  }

  const pageProcess: PageProcess = {
    get hasEnded() {
      return end !== undefined;
    },
    cpuTimeMs: async () => (child.pid === undefined ? undefined : cpuTimeMs(child.pid)),
    memoryBytes: () => (child.pid === undefined ? undefined : memoryBytes(child.pid)),
    async convert(job, given) {
      const answered = answer(given);
      child.send(job, () => {}); // one that cannot be sent to has ended
      return (await answered) as PageOutcome;
    },
    async [Symbol.asyncDispose]() {
      child.ref(); // or a process with nothing else to do would end in the middle of this
      child.kill("SIGKILL");
      await ended;
    },
  };
  try {
    await within(
      START_TIMEOUT_MS,
      answer(signal),
      () => new PageProcessEndedError(null, `it is not ready within ${START_TIMEOUT_MS} ms`),
    );
    return pageProcess;
  } catch (error) {
    await pageProcess[Symbol.asyncDispose]();
    throw error;
  }
}

function forkConverter(maxHeapMb: number): ChildProcess {
  const child = fork(PROGRAM, [], {
    env: MEMORY_GIVEN_BACK,
    // The young generation comes on top: by default it alone may take 48 MiB, and so it takes 6.
    execArgv: [`--max-old-space-size=${maxHeapMb}`, "--max-semi-space-size=2"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  child.unref();
  child.channel?.unref();
  return child;
}
