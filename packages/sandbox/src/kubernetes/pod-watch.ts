import { setTimeout } from "node:timers/promises";
import { startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ApiError } from "./api/api-error.ts";
import type { PodList, PodsApi } from "./api/pods-api.ts";
import { readLines } from "./api/read-lines.ts";
import { type PodLike, type PodView, viewPod } from "./pods/pod-view.ts";

/** Lists and watches begin so far apart at least: two requests in that time while all fails. */
const CYCLE_MS = 2_000;
/** A watch that is silent for so long is not believed while somebody waits for a pod: the pods are listed. */
const DOUBTED_MS = 2_000;
/** A server tells about once a minute how far a watch is, also where nothing happens. */
const SILENT_MS = 150_000;
/** An object of etcd is no larger. */
const MAX_LINE_BYTES = 2_000_000;
const LIST_MS = 10_000;
/** The most pods that are remembered after they are gone. */
const MOST_GONE = 500;

export interface PodWatchOptions {
  readonly log: Logger;
}

/**
 * The pods of all managers as they are, by one list and one watch that all share. A watch that ends, breaks, falls
 * behind (410) or says what cannot be read is begun anew with a list, so that nothing is missed for longer than two
 * seconds.
 */
export class PodWatch implements AsyncDisposable {
  readonly #api: PodsApi;
  readonly #log: Logger;
  readonly #pods = new Map<string, PodView>();
  /** By uid, as they were last, the oldest first. */
  readonly #gone = new Map<string, PodView>();
  readonly #looks = new Map<string, Set<() => void>>();
  #waiting = 0;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #doubts: AsyncDisposable;
  #heardAt = 0;
  #isWatching = false;
  #isFailing = false;
  #isListed = false;
  #current = new AbortController();

  constructor(api: PodsApi, { log }: PodWatchOptions) {
    this.#api = api;
    this.#log = log;
    this.#running = this.#run();
    this.#doubts = startLoop(DOUBTED_MS / 4, (signal) => this.#doubt(signal));
  }

  /** True once the pods have been listed. */
  get isListed(): boolean {
    return this.#isListed;
  }

  pods(): readonly PodView[] {
    return [...this.#pods.values()];
  }

  get(name: string): PodView | undefined {
    return this.#pods.get(name);
  }

  /**
   * A pod that is gone, as the cluster has shown it last: with why it had to go. One that went while no watch ran, or
   * long ago, is not known.
   */
  gone(uid: string): PodView | undefined {
    return this.#gone.get(uid);
  }

  /**
   * Waits for a pod to be as wanted: looks at once and after every change of it.
   * @param isWanted is given undefined while there is no such pod: not yet listed, or gone
   * @throws the signal's reason
   */
  async until<T>(name: string, isWanted: (pod: PodView | undefined) => T | undefined, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const look = (): void => {
      const found = isWanted(this.#pods.get(name));
      if (found !== undefined) resolve(found);
    };
    const giveUp = (): void => reject(signal.reason);
    const end = this.onChange(name, look);
    signal.addEventListener("abort", giveUp, { once: true });
    this.#waiting++;
    try {
      look();
      return await promise;
    } finally {
      this.#waiting--;
      signal.removeEventListener("abort", giveUp);
      end();
    }
  }

  /** Calls `look` after each change of a pod that the watch tells of; nobody waits for one. @returns ends that */
  onChange(name: string, look: () => void): () => void {
    const looks = this.#looks.get(name) ?? new Set();
    this.#looks.set(name, looks.add(look));
    return () => {
      looks.delete(look);
      if (looks.size === 0 && this.#looks.get(name) === looks) this.#looks.delete(name);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#doubts[Symbol.asyncDispose]();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const began = performance.now();
      this.#current = new AbortController();
      try {
        await this.#listAndWatch(AbortSignal.any([signal, this.#current.signal]));
      } catch (error) {
        if (!signal.aborted) this.#noteFailure(error);
      }
      const left = CYCLE_MS - (performance.now() - began);
      if (left > 0) await setTimeout(left, undefined, { signal }).catch(() => {});
    }
  }

  /** Once, until it has worked again: a cluster may be away for long. */
  #noteFailure(error: unknown): void {
    if (!this.#isFailing) this.#log.warn({ error: String(error) }, "the watch of the pods failed, and is restarted");
    this.#isFailing = true;
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    const list = await this.#api.list(AbortSignal.any([signal, AbortSignal.timeout(LIST_MS)]));
    this.#take(list);
    const silence = new AbortController();
    const timer = globalThis.setTimeout(
      () => silence.abort(new Error(`nothing was heard for ${SILENT_MS / 1_000} s`)),
      SILENT_MS,
    );
    this.#isWatching = true;
    try {
      const stream = await this.#api.watch(list.resourceVersion, AbortSignal.any([signal, silence.signal]));
      for await (const line of readLines(stream, MAX_LINE_BYTES)) {
        timer.refresh();
        this.#isFailing = false;
        this.#heardAt = performance.now();
        this.#apply(JSON.parse(line) as WatchLine);
      }
    } finally {
      this.#isWatching = false;
      clearTimeout(timer);
    }
  }

  #apply({ type, object }: WatchLine): void {
    if (type === "ERROR") throw new ApiError("watch pods", object.code ?? 0, JSON.stringify(object), undefined);
    if (type === "BOOKMARK") return;
    const pod = viewPod(object);
    if (type === "DELETED") this.#forget(pod);
    else this.#pods.set(pod.name, pod);
    this.#tell(pod.name);
  }

  #forget(pod: PodView): void {
    this.#pods.delete(pod.name);
    this.#gone.set(pod.uid, { ...pod, isGoing: true });
    const [oldest] = this.#gone.keys();
    if (this.#gone.size > MOST_GONE && oldest !== undefined) this.#gone.delete(oldest);
  }

  /** @returns whether anything was not known */
  #take({ pods }: PodList): boolean {
    const seen = new Map(pods.map((pod) => [pod.name, pod]));
    const changed = [
      ...[...this.#pods.keys()].filter((name) => !seen.has(name)),
      ...pods
        .filter(({ name, resourceVersion }) => this.#pods.get(name)?.resourceVersion !== resourceVersion)
        .map(({ name }) => name),
    ];
    this.#isListed = true;
    this.#heardAt = performance.now();
    for (const name of changed) {
      const pod = seen.get(name);
      if (pod === undefined) this.#pods.delete(name);
      else this.#pods.set(name, pod);
    }
    for (const name of changed) this.#tell(name);
    return changed.length > 0;
  }

  #tell(name: string): void {
    for (const look of [...(this.#looks.get(name) ?? [])]) look();
  }

  /** Asks, where a watch is silent while somebody waits, and begins it anew if it has kept something back. */
  async #doubt(stop: AbortSignal): Promise<void> {
    const heardAt = this.#heardAt;
    if (!this.#isWatching || this.#waiting === 0 || performance.now() - heardAt < DOUBTED_MS) return;
    const watched = this.#current;
    try {
      const list = await this.#api.list(AbortSignal.any([stop, AbortSignal.timeout(LIST_MS)]));
      if (this.#heardAt !== heardAt || watched !== this.#current) return; // events that came since are newer
      if (this.#take(list)) watched.abort(new Error("it had not told of what a list shows"));
    } catch {
      this.#heardAt = performance.now(); // not again at once; the watch reports the rest
    }
  }
}

interface WatchLine {
  readonly type: string;
  readonly object: PodLike & { readonly code?: number };
}
