import { type ChildProcess, fork } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { cpuTimeMs } from "@rockbot/base/cpu-time";
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

/** The first message of the process: its libraries are loaded, and what takes long from now on is the trial. */
export const READY = "ready";

/** The program beside this file, in the sources as in a bundle. */
const PROGRAM = fileURLToPath(new URL(`./what-if-main${extname(import.meta.url)}`, import.meta.url));
const MAX_HEAP_MB = 96;
/** The processor time of a trial: a machine with much else to do takes longer for the same. */
const MAX_TRIAL_MS = 2_000;
const LOOK_MS = 100;
/** All of it, with its start. */
const MAX_MS = 30_000;

/**
 * Judges calls by a pasted policy, in a process of its own that is ended after 2 seconds of processor time. It gets
 * nothing of the environment. A thread would not do: V8 ends the whole process where a thread asks for much memory at
 * once.
 */
export async function tryPolicy(trial: Trial): Promise<TrialOutcome> {
  const child = fork(PROGRAM, [], {
    env: {},
    execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`, "--max-semi-space-size=2"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const { promise, resolve } = Promise.withResolvers<TrialOutcome>();
  const ended = new Promise<void>((gone) => {
    child.once("exit", () => gone(resolve(tooLarge("more memory than it gets"))));
    child.on("error", ({ message }) => {
      resolve({ fault: `Cannot try the policy: its process fails: ${message}` });
      if (child.pid === undefined) gone();
    });
  });
  const end = setTimeout(resolve, MAX_MS, tooLarge(`more than ${MAX_MS / 1_000} s`));
  let watch: NodeJS.Timeout | undefined;
  child.on("message", (message: typeof READY | TrialOutcome) => {
    if (message !== READY) return resolve(message);
    const start = usedMs(child);
    watch = setInterval(async () => {
      if ((await usedMs(child)) - (await start) > MAX_TRIAL_MS)
        resolve(tooLarge(`more than ${MAX_TRIAL_MS / 1_000} s`));
    }, LOOK_MS);
  });
  child.send(trial, () => {}); // one that cannot be sent to has ended
  try {
    return await promise;
  } finally {
    clearTimeout(end);
    clearInterval(watch);
    child.kill("SIGKILL");
    await ended;
  }
}

/** What a process has used, or the time where the system does not say. */
const usedMs = async ({ pid = 0 }: ChildProcess): Promise<number> => (await cpuTimeMs(pid)) ?? performance.now();

const tooLarge = (needs: string): TrialOutcome => ({
  fault: `Cannot try the policy: the trial needs ${needs}. Try a smaller policy`,
});
