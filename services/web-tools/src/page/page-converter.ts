import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { MarkdownPage } from "./to-markdown.ts";

/** The page cannot be converted within the limits of time and memory. */
export class PageConversionError extends Error {
  override readonly name = "PageConversionError";
}

export interface PageConverterOptions {
  /** For one page, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** How many pages are converted at once; more wait. @default 2 */
  readonly maxWorkers?: number | undefined;
  /** A worker that has nothing to do ends after this time, in milliseconds. @default 60_000 */
  readonly idleMs?: number | undefined;
  /** Of one worker, in MiB. @default 384 */
  readonly maxHeapMb?: number | undefined;
}

/**
 * Converts pages in worker threads, for a page is a stranger's program for the converter: one that takes it too long or
 * too much memory ends its worker, and nothing else. Workers start when there is work.
 */
export interface PageConverter extends AsyncDisposable {
  /** @throws {PageConversionError}, or the signal's reason once it aborts */
  convert(html: string, url: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<MarkdownPage>;
}

interface Job {
  readonly html: string;
  readonly url: string;
}
type Outcome = { readonly page: MarkdownPage } | { readonly failure: string };

const PAGE_WORKER = "rockbot.page-worker";

/** Whether this module runs in one of its own workers. In a bundle a worker starts with the whole file, and a main has to leave it alone. */
export const isPageWorker: boolean = !isMainThread && workerData === PAGE_WORKER;

export function createPageConverter({ timeoutMs = 10_000, maxWorkers = 2, idleMs = 60_000, maxHeapMb = 384 }: PageConverterOptions = {}): PageConverter {
  const idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout }[] = [];
  const running = new Set<Worker>();
  const waiting: (() => void)[] = [];
  let busy = 0;

  function takeWorker(): Worker {
    const ready = idle.pop();
    clearTimeout(ready?.timer);
    const worker =
      ready?.worker ??
      new Worker(new URL(import.meta.url), { workerData: PAGE_WORKER, env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } });
    if (ready === undefined) {
      running.add(worker);
      worker.once("exit", () => {
        running.delete(worker);
        const at = idle.findIndex((entry) => entry.worker === worker);
        if (at >= 0) clearTimeout(idle.splice(at, 1)[0]?.timer);
      });
      worker.on("error", () => {}); // told to the job that runs
    }
    worker.ref();
    return worker;
  }

  function putBack(worker: Worker): void {
    worker.unref();
    idle.push({ worker, timer: setTimeout(() => void worker.terminate(), idleMs).unref() });
  }

  async function run(job: Job, signal: AbortSignal | undefined): Promise<MarkdownPage> {
    signal?.throwIfAborted();
    const worker = takeWorker();
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const onExit = (): void => reject(new PageConversionError("it takes too much memory"));
    const onAbort = (): void => reject(signal?.reason);
    const timer = setTimeout(() => reject(new PageConversionError(`it takes longer than ${timeoutMs} ms`)), timeoutMs);
    worker.once("message", resolve).once("exit", onExit);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      worker.postMessage(job);
      const outcome = await promise;
      putBack(worker);
      if ("failure" in outcome) throw new PageConversionError(outcome.failure);
      return outcome.page;
    } catch (error) {
      if (!idle.some((entry) => entry.worker === worker)) void worker.terminate();
      throw error;
    } finally {
      clearTimeout(timer);
      worker.off("message", resolve).off("exit", onExit);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  return {
    async convert(html, url, { signal } = {}) {
      await takeTurn(signal);
      try {
        return await run({ html, url }, signal);
      } finally {
        busy--;
        waiting.shift()?.();
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((worker) => worker.terminate()));
    },
  };

  async function takeTurn(signal: AbortSignal | undefined): Promise<void> {
    while (busy >= maxWorkers) {
      signal?.throwIfAborted();
      await new Promise<void>((resolve) => {
        const go = (): void => {
          signal?.removeEventListener("abort", go);
          const at = waiting.indexOf(go);
          if (at >= 0) waiting.splice(at, 1);
          resolve();
        };
        waiting.push(go);
        signal?.addEventListener("abort", go, { once: true });
      });
    }
    signal?.throwIfAborted();
    busy++;
  }
}

/** The worker's side. The converter is loaded here only: its libraries are no part of the main thread's start. */
async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  const { PageTooComplexError } = await import("./bound-tree.ts");
  const { toMarkdown } = await import("./to-markdown.ts");
  port.on("message", ({ html, url }: Job) => {
    let outcome: Outcome;
    try {
      outcome = { page: toMarkdown(html, url) };
    } catch (error) {
      outcome = { failure: error instanceof PageTooComplexError ? `it has ${error.message}` : "its structure is too complex" };
    }
    port.postMessage(outcome);
  });
}

if (isPageWorker && parentPort !== null) await serve(parentPort);
