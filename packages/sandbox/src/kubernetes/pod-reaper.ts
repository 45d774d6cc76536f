import { startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import type { PodsApi } from "./api/pods-api.ts";
import type { PodWatch } from "./pod-watch.ts";
import { isOver, type PodView } from "./pods/pod-view.ts";

export interface PodReaperOptions {
  readonly api: PodsApi;
  readonly watch: PodWatch;
  readonly owner: string;
  /** How long a pod whose script has ended is kept for a process that takes its job up. */
  readonly keepFinishedMs: number;
  readonly log: Logger;
}

const EVERY_MS = 1_000;
/** Deletions at once. */
const AT_ONCE = 8;
/** How much longer than its own owner others leave a pod. */
const OTHERS_MS = 10_000;
/** All deletions of one look together; what is left over comes with the next. */
const DELETE_MS = 20_000;
/** The same at the end: then it is left to others. */
const STOP_MS = 5_000;
/** Deletions that failed are tried again after this. */
const AGAIN_MS = 2_000;

/**
 * Deletes pods that are not needed any more, of any maker: its owner's that this process does not hold, those whose
 * script ended some time ago, and those past their deadline. Pods of a manager that is gone end by themselves while
 * they wait, as it held their stdin; what has ended is what others may delete. It goes by what the watch shows, and
 * asks for the very pod that it has seen.
 */
export class PodReaper implements AsyncDisposable {
  readonly #options: PodReaperOptions;
  readonly #held = new Set<string>();
  /** Until when, by name, pods stay whose script has ended. */
  readonly #kept = new Map<string, number>();
  /** When to try again, of those that are on their way. */
  readonly #tried = new Map<string, number>();
  readonly #loop: AsyncDisposable;

  constructor(options: PodReaperOptions) {
    this.#options = options;
    this.#loop = startLoop(EVERY_MS, (stop) =>
      this.#reap((pod) => this.#isDue(pod), AbortSignal.any([stop, AbortSignal.timeout(DELETE_MS)])),
    );
  }

  /** The pod of that name is in use here, or is about to be made. */
  hold(name: string): void {
    this.#held.add(name);
  }

  /** It is not any more: it is kept for a while if its script has ended, and deleted else. */
  release(name: string, { isFinished = false }: { readonly isFinished?: boolean } = {}): void {
    this.#held.delete(name);
    if (isFinished) this.#kept.set(name, performance.now() + this.#options.keepFinishedMs);
  }

  /** Deletes what its owner has left, but for what has a job that another may take up. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
    this.#tried.clear();
    await this.#reap(
      ({ name, owner, job, isGoing }) =>
        owner === this.#options.owner && !isGoing && (job === undefined || this.#kept.has(name)),
      AbortSignal.timeout(STOP_MS),
    );
  }

  async #reap(isDue: (pod: PodView) => boolean, signal: AbortSignal): Promise<void> {
    const { watch } = this.#options;
    if (!watch.isListed) return;
    const now = performance.now();
    for (const due of [this.#tried, this.#kept]) for (const [key, at] of due) if (at < now) due.delete(key);
    const due = watch.pods().filter((pod) => isDue(pod) && !this.#tried.has(pod.uid));
    const workers = Array.from({ length: Math.min(AT_ONCE, due.length) }, async () => {
      for (let pod = due.pop(); pod !== undefined; pod = due.pop()) await this.#delete(pod, signal);
    });
    await Promise.all(workers);
  }

  async #delete(pod: PodView, signal: AbortSignal): Promise<void> {
    const { api, log } = this.#options;
    this.#tried.set(pod.uid, performance.now() + AGAIN_MS);
    try {
      await api.delete(pod, signal);
    } catch (error) {
      log.warn({ pod: pod.name, error: String(error) }, "could not delete a pod, and retries");
    }
  }

  #isDue(pod: PodView): boolean {
    if (pod.isGoing || this.#held.has(pod.name) || this.#kept.has(pod.name)) return false;
    if (pod.owner === this.#options.owner) return true;
    const now = Date.now() - OTHERS_MS;
    if (!isOver(pod)) return pod.deadline === undefined || now > pod.deadline;
    const keepMs = pod.job === undefined ? 0 : this.#options.keepFinishedMs;
    return now > (pod.terminated?.finishedAt ?? pod.createdAt) + keepMs;
  }
}
