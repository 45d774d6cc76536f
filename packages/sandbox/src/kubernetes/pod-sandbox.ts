import { once } from "node:events";
import { join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import type { ToolError } from "@rockbot/contracts";
import { MAX_FRAME_BYTES } from "../job/frames.ts";
import { type PackedLayer, packLayer } from "../layer/pack-layer.ts";
import type { Sandbox, SandboxEnd } from "../sandbox.ts";
import type { ScriptJob } from "../script-runner.ts";
import { hasStatus } from "./api/api-error.ts";
import { apiFault } from "./api/api-fault.ts";
import type { AttachedPod } from "./api/attach-pod.ts";
import { followLog } from "./api/follow-log.ts";
import type { PodsApi } from "./api/pods-api.ts";
import { readLines } from "./api/read-lines.ts";
import type { PodWatch } from "./pod-watch.ts";
import { podEnd, unavailable } from "./pods/pod-fault.ts";
import { checkJobId, deadlineIn, PodLabel, PodState } from "./pods/pod-marks.ts";
import { isExplained, isOver, type PodView } from "./pods/pod-view.ts";

/** The layers of the manager, of which no pod sees any. */
export interface PodPackages {
  /** Where they lie. */
  readonly folder: string;
  /** What a pod has room for, on its node's disk. */
  readonly maxBytes: number;
}

export interface PodSandboxOptions {
  readonly api: PodsApi;
  readonly watch: PodWatch;
  readonly owner: string;
  /** Undefined for a pod whose job has been started. */
  readonly attached: AttachedPod | undefined;
  /** Attaches to its stdout, for a job with files. */
  readonly attachOutput: () => Promise<AttachedPod>;
  readonly packages: PodPackages | undefined;
  readonly limitBytes: number;
  /** Until when a pod with a job may be there, from the time that it gets it. */
  readonly jobMs: number;
  /** Called once: the sandbox is done with; `isFinished`: the script came to its end, and another may still ask how. */
  readonly released: (name: string, isFinished: boolean) => void;
}

/** How long a pod that has been deleted is waited for. */
const GONE_MS = 10_000;
/** How long what has come may stay unread before the sandbox counts as gone all the same. */
const UNREAD_MS = 5_000;
/** The kubelet tells of a pod often while it starts, and each time its version is another. */
const MARK_ATTEMPTS = 8;

/**
 * A pod as a sandbox: this process attaches to its stdin, and reads its frames from the log, from the first on. Where
 * its stdout is attached to as well, that is what it says, and its log is left alone. So it is for a job with files,
 * as a log keeps only so much.
 */
export class PodSandbox implements Sandbox {
  readonly input: Writable;
  readonly output: Readable;
  readonly gone: Promise<SandboxEnd>;
  readonly packLayer?: (key: string) => Promise<PackedLayer>;
  readonly #pod: PodView;
  readonly #options: PodSandboxOptions;
  readonly #output = new PassThrough();
  readonly #stop = new AbortController();
  /** Ends the reading of the log from its beginning. */
  readonly #firstLog = new AbortController();
  /** How many lines it has said. */
  #told = 0;
  #outputHeld: AttachedPod | undefined;
  readonly #endLooking: () => void;
  readonly #ready = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<SandboxEnd>();
  #job: string | undefined;
  #isFinished = false;
  #disposing: Promise<void> | undefined;

  constructor(pod: PodView, options: PodSandboxOptions) {
    this.#pod = pod;
    this.#options = options;
    this.#job = pod.job;
    this.input = options.attached?.input ?? new PassThrough().resume(); // the supervisor takes one job only
    const { attached, packages } = options;
    this.output = attached?.output ?? this.#output;
    // A sandbox that is only followed has its packages already.
    if (packages !== undefined && attached !== undefined)
      this.packLayer = (key) => packLayer(join(packages.folder, key), packages);
    this.gone = this.#gone.promise;
    this.#ready.promise.catch(() => {});
    this.#endLooking = options.watch.onChange(pod.name, () => this.#lookForEnd());
    void attached?.lost.then(() => this.#lost());
    if (attached?.output === undefined) void this.#tell(this.#log(0), this.#firstLog.signal);
    else this.#ready.resolve();
  }

  /** The name of its pod. */
  get name(): string {
    return this.#pod.name;
  }

  /** Others may look for it. */
  get hasJob(): boolean {
    return this.#job !== undefined;
  }

  /** Lets it run on without this process, for another that takes up its job. */
  leave(): void {
    this.#end(podEnd(undefined));
    this.#options.attached?.close();
    this.#outputHeld?.close();
  }

  /** Resolves once the supervisor has said its first words. @throws {ToolError} if the pod ends before */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  async assign({ id, files }: Pick<ScriptJob, "id" | "files">): Promise<void> {
    checkJobId(id);
    if (files !== undefined) await this.#attachOutput();
    if (this.#job === id) return;
    if (this.#job !== undefined) throw taken();
    await this.#mark(id);
  }

  /** From now on its frames come by its stdout: it says nothing before its job. */
  async #attachOutput(): Promise<void> {
    const { attached, attachOutput } = this.#options;
    if (attached?.output !== undefined || this.#outputHeld !== undefined) return;
    await this.#ready.promise;
    const held = await attachOutput().catch((error: unknown) => {
      throw apiFault(error);
    });
    this.#outputHeld = held;
    this.#firstLog.abort();
    if (held.output !== undefined) void this.#tell(this.#attachedLines(held.output));
  }

  async #mark(jobId: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const { api, watch, owner, jobMs } = this.#options;
      try {
        const seen = attempt === 1 ? watch.get(this.name) : await api.get(this.name, this.#stop.signal);
        if (seen === undefined || seen.isGoing) throw podEnd(undefined).unbegun;
        if (seen.owner !== owner || (seen.job !== undefined && seen.job !== jobId)) throw taken();
        const labels = { [PodLabel.Job]: jobId, [PodLabel.State]: PodState.Busy };
        await api.mark(
          this.name,
          { labels, annotations: deadlineIn(jobMs), resourceVersion: seen.resourceVersion },
          this.#stop.signal,
        );
        this.#job = jobId;
        return;
      } catch (error) {
        if (!hasStatus(error, 409) || attempt === MARK_ATTEMPTS) throw apiFault(error);
      }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposing ??= this.#dispose();
    return this.#disposing;
  }

  async #dispose(): Promise<void> {
    const { api, watch } = this.#options;
    this.leave();
    if (this.#isFinished) return;
    const signal = AbortSignal.timeout(GONE_MS);
    try {
      await api.delete(this.#pod, signal);
      await watch.until(
        this.name,
        (pod) => pod === undefined || pod.uid !== this.#pod.uid || isOver(pod) || undefined,
        signal,
      );
    } catch {
      // The reaper goes on with it.
    }
  }

  /** Where the connection breaks, the log goes on: it has the same lines. */
  async *#attachedLines(output: Readable): AsyncGenerator<string, boolean> {
    yield* readLines(output, MAX_FRAME_BYTES);
    return this.#isFinished || (yield* this.#log(this.#told));
  }

  /** @param told so many lines are left out */
  #log(told: number): AsyncGenerator<string, boolean> {
    const { api, limitBytes } = this.#options;
    return followLog(api, this.name, {
      limitBytes,
      told,
      signal: told === 0 ? AbortSignal.any([this.#stop.signal, this.#firstLog.signal]) : this.#stop.signal,
      isOver: () => this.#isOver,
      isGone: () => this.#isGone,
    });
  }

  /**
   * Passes on what it says.
   * @param lines give in the end whether nothing was lost
   * @param replaced aborted once other lines go on where these end. @default none do
   */
  async #tell(lines: AsyncGenerator<string, boolean>, replaced?: AbortSignal): Promise<void> {
    const { signal } = this.#stop;
    try {
      let next = await lines.next();
      for (; next.done !== true; next = await lines.next()) {
        this.#told++;
        this.#ready.resolve();
        if (next.value.startsWith('{"frame":"ended"')) this.#isFinished = true;
        if (!this.#output.write(`${next.value}\n`)) await once(this.#output, "drain", { signal });
      }
      const end = { ...(await this.#whenOver()), hasSaidAll: next.value };
      this.#ready.reject(end.unbegun ?? end.error);
      this.#output.end();
      await this.#untilRead();
      this.#end(end);
    } catch {
      if (signal.aborted || replaced?.aborted !== true) this.#output.end(); // it is disposed of, or says what is no line
    }
  }

  get #isOver(): boolean {
    const pod = this.#options.watch.get(this.name);
    return this.#isGone || (pod !== undefined && isOver(pod));
  }

  get #isGone(): boolean {
    const pod = this.#options.watch.get(this.name);
    return pod === undefined ? this.#options.watch.isListed : pod.uid !== this.#pod.uid;
  }

  /** Its log has ended; the watch may be late, and the reason comes last. A script that has said its end needs none. */
  async #whenOver(): Promise<SandboxEnd> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(GONE_MS)]);
    const end = (pod: PodView | undefined): SandboxEnd | undefined =>
      pod === undefined || pod.uid !== this.#pod.uid
        ? podEnd(this.#options.watch.gone(this.#pod.uid))
        : (isOver(pod) && this.#isFinished) || isExplained(pod) || pod.isNodeLost || pod.isGoing
          ? podEnd(pod)
          : undefined;
    return await this.#options.watch
      .until(this.name, end, signal)
      .catch(() => podEnd(this.#options.watch.get(this.name)));
  }

  /** What has been said comes before the end, where somebody reads it. */
  async #untilRead(): Promise<void> {
    if (this.#job === undefined || this.#output.readableEnded) return;
    await once(this.#output, "end", {
      signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(UNREAD_MS)]),
    }).catch(() => {});
  }

  /** A lost node says nothing, nor does its log end. */
  #lookForEnd(): void {
    const pod = this.#options.watch.get(this.name);
    if (pod === undefined || pod.uid !== this.#pod.uid || !pod.isNodeLost || isOver(pod)) return;
    this.#output.end();
    this.#end(podEnd(pod));
  }

  /** Without a job it ends by itself then; with one the supervisor has read what it needs, or ends too. */
  async #lost(): Promise<void> {
    if (this.#options.attached?.output !== undefined) this.#end(await this.#whenOver());
    else if (this.#job === undefined) this.#end(podEnd(undefined));
  }

  #end(end: SandboxEnd): void {
    if (this.#stop.signal.aborted) return;
    this.#options.released(this.name, this.#isFinished);
    this.#endLooking();
    this.#ready.reject(end.error);
    this.#gone.resolve(end);
    this.#stop.abort();
  }
}

const taken = (): ToolError => unavailable("sandbox_taken", "The sandbox was given another script. Try again.");
