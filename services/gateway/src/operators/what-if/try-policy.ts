import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { WhatIfRow } from "@rockbot/console/api";
import type { PastCall } from "./past-calls.ts";

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
/** The processor time of a trial: a machine with much else to do takes longer for the same. */
const MAX_TRIAL_MS = 2_000;
const LOOK_MS = 100;
/** All of it, with its start. */
const MAX_MS = 30_000;

/** Judges calls by a pasted policy, in a thread of its own that is ended after 2 seconds of processor time. */
export async function tryPolicy(trial: Trial): Promise<TrialOutcome> {
  const worker = new Worker(PROGRAM, {
    workerData: trial,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const { promise, resolve } = Promise.withResolvers<TrialOutcome>();
  worker.on("error", () => resolve(tooLarge("more memory than it gets")));
  const end = setTimeout(resolve, MAX_MS, tooLarge(`more than ${MAX_MS / 1_000} s`));
  let watch: NodeJS.Timeout | undefined;
  worker.on("message", (message: typeof READY | TrialOutcome) => {
    if (message !== READY) return resolve(message);
    const start = cpuMs(worker);
    watch = setInterval(async () => {
      if ((await cpuMs(worker)) - (await start) > MAX_TRIAL_MS)
        resolve(tooLarge(`more than ${MAX_TRIAL_MS / 1_000} s`));
    }, LOOK_MS);
  });
  try {
    return await promise;
  } finally {
    await worker.terminate();
    clearTimeout(end);
    clearInterval(watch);
  }
}

/** What a thread has used. One that has ended uses nothing more. */
async function cpuMs(worker: Worker): Promise<number> {
  const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
  return (user + system) / 1_000;
}

const tooLarge = (needs: string): TrialOutcome => ({
  fault: `Cannot try the policy: the trial needs ${needs}. Try a smaller policy`,
});
