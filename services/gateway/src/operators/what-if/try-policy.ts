import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { WhatIfRow } from "@rockbot/console/api";
import type { PastCall } from "./past-call.ts";

/** What one trial judges. */
export interface Trial {
  /** The policy in force, as a text. */
  readonly inForce: string;
  /** The text that an operator has pasted. */
  readonly proposed: string;
  readonly calls: readonly PastCall[];
}

/** What a trial came to: rows, or the faults of the pasted text in words. */
export type TrialOutcome =
  | { readonly revision: string; readonly notes: readonly string[]; readonly rows: readonly WhatIfRow[] }
  | { readonly fault: string };

/** The first message of the thread: its libraries are loaded, and what takes long from now on is the trial. */
export const READY = "ready";

/** The program beside this file, in the sources as in a bundle. */
const PROGRAM = new URL(`./what-if-main${extname(import.meta.url)}`, import.meta.url);
const MAX_HEAP_MB = 96;
const MAX_TRIAL_MS = 2_000;
/** Some hundred milliseconds on an idle machine. */
const MAX_START_MS = 30_000;

/** Judges calls by a pasted policy, in a thread of its own that is ended after 2 seconds. */
export async function tryPolicy(trial: Trial): Promise<TrialOutcome> {
  const worker = new Worker(PROGRAM, {
    workerData: trial,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  let failure: ((outcome: TrialOutcome) => void) | undefined;
  worker.on("error", () => failure?.(tooLarge("more memory than it gets")));
  /** The next message, or why there is none. */
  const next = (limitMs: number): Promise<unknown> => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    worker.once("message", resolve);
    failure = resolve;
    setTimeout(resolve, limitMs, tooLarge(`more than ${limitMs / 1_000} s`)).unref();
    return promise;
  };
  try {
    const first = await next(MAX_START_MS);
    return (first === READY ? await next(MAX_TRIAL_MS) : first) as TrialOutcome;
  } finally {
    await worker.terminate();
  }
}

const tooLarge = (needs: string): TrialOutcome => ({
  fault: `Cannot try the policy: the trial needs ${needs}. Try a smaller policy`,
});
