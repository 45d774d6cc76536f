import { randomBytes } from "node:crypto";
import { RenewingLease, unlessAborted, within } from "@rockbot/base";
import { type Logger, silentLogger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { MakeSandboxOptions, Sandbox, SandboxMaker } from "../sandbox.ts";
import { defaultSandboxLimits, type SandboxLimits } from "../sandbox-limits.ts";
import { hasStatus } from "./api/api-error.ts";
import { apiFault } from "./api/api-fault.ts";
import { type AttachedPod, attachPod } from "./api/attach-pod.ts";
import { type ClusterConfigOptions, loadClusterConfig } from "./api/cluster-config.ts";
import { hasStarted } from "./api/pod-log.ts";
import { PodsApi } from "./api/pods-api.ts";
import { retried } from "./api/retried.ts";
import { PodReaper } from "./pod-reaper.ts";
import { type PodPackages, PodSandbox } from "./pod-sandbox.ts";
import { PodWatch } from "./pod-watch.ts";
import { unavailable } from "./pods/pod-fault.ts";
import { APP, checkJobId, deadlineIn, PodLabel, PodState, podNameOfJob } from "./pods/pod-marks.ts";
import { type PodTemplate, podSpec } from "./pods/pod-spec.ts";
import { isOver, type PodView } from "./pods/pod-view.ts";
import { scriptCommand } from "./pods/script-command.ts";
import { untilPodRuns } from "./until-pod-runs.ts";

/** The cluster, the namespace and the pods of sandboxes. */
export interface KubernetesMakerOptions
  extends ClusterConfigOptions,
    Omit<PodTemplate, "command" | "limits" | "packagesBytes"> {
  /** @default rockbot-scripts */
  readonly namespace?: string | undefined;
  /** @default defaultSandboxLimits */
  readonly limits?: SandboxLimits | undefined;
  /**
   * What runs first in a pod in place of the supervisor, and is spoken with over its stdin and stdout: it has no job,
   * says nothing before it is spoken to, and ends with its stdin. What it says is not bounded by what a log keeps; the
   * kubelet writes it into the log of the pod's container all the same, where it is rotated away.
   */
  readonly command?: readonly string[] | undefined;
  /** Layers that jobs may want, each of which is sent to the pod that wants it. @default none */
  readonly packages?: PodPackages | undefined;
  /** How long a pod may wait for a node, its image and its start, in milliseconds. @default 60_000 */
  readonly scheduleMs?: number | undefined;
  /** The longest that a script may run, in milliseconds: the supervisor ends it before. @default 300_000 */
  readonly maxRunMs?: number | undefined;
  /**
   * How long the pod of a finished script is kept for a process that takes up its call, in milliseconds.
   * @default 30_000
   */
  readonly keepFinishedMs?: number | undefined;
  readonly log?: Logger | undefined;
}

/** What a pod has beyond the time of its script: the way there and back, and clocks that differ. */
const SLACK_MS = 30_000;
/** How long packages may be on their way to a pod: what they are at most, at a few MiB a second. */
const SENDING_MS = 240_000;
/** How long a pod that does not run yet is there without its owner. */
const STARTING_MS = 25_000;
/** A pod waits warm for so long at most, and somewhat less, so that those made together do not end together. */
const WARM_MS = 3_600_000;
/** More of a log is not read: what a supervisor keeps of a script is less. */
const LOG_BYTES = 16 * 1024 * 1024;
/** What a job's pods are called one after the other, where one that never ran stays in the way. */
const NAMES = 3;
/** How long one that stays in the way is waited for. */
const IN_THE_WAY_MS = 5_000;
/** How long the watch may take to tell of a pod that a list has shown. */
const SEEN_MS = 5_000;
/** How long a supervisor may take to say its first words. */
const READY_MS = 30_000;
/**
 * Makes sandboxes of pods, in a namespace of their own. A pod that is made for a job has its name, so that there is
 * only one. Every pod carries its job as a label, so that a later manager of the job finds it. A job whose script has
 * started gets no other pod.
 * @throws {Error} if the configuration cannot be used
 */
export function kubernetesMaker(options: KubernetesMakerOptions): SandboxMaker & { readonly apiServer: URL } {
  return new KubernetesMaker(options);
}

class KubernetesMaker implements SandboxMaker {
  readonly kind = "kubernetes";
  readonly carriesFiles = true;
  readonly #config: ReturnType<typeof loadClusterConfig>;
  readonly #api: PodsApi;
  readonly #watch: PodWatch;
  readonly #reaper: PodReaper;
  readonly #template: PodTemplate;
  /** Another for each process: what its predecessor has left is not its own. */
  readonly #owner: string;
  readonly #packages: PodPackages | undefined;
  /** Its pods say what they have to say on their stdout; those of scripts in their log. */
  readonly #hasOutput: boolean;
  /** How long a pod waits for what it is made for. */
  readonly #warmMs: number;
  readonly #scheduleMs: number;
  readonly #maxRunMs: number;
  readonly #live = new Set<PodSandbox>();
  readonly #stop = new AbortController();

  constructor(options: KubernetesMakerOptions) {
    const { namespace = "rockbot-scripts", limits = defaultSandboxLimits, log = silentLogger } = options;
    this.#config = loadClusterConfig(options);
    this.#scheduleMs = options.scheduleMs ?? 60_000;
    this.#maxRunMs = options.maxRunMs ?? 300_000;
    this.#packages = options.packages;
    this.#hasOutput = options.command !== undefined;
    this.#warmMs = this.#hasOutput ? 0 : WARM_MS;
    this.#owner = `${randomBytes(8).toString("hex")}${this.#hasOutput ? ".installer" : ""}`;
    this.#template = {
      ...options,
      limits,
      command: options.command ?? scriptCommand(limits, options.packages?.maxBytes),
      packagesBytes: options.packages?.maxBytes,
    };
    this.#api = new PodsApi(this.#config, namespace);
    this.#watch = new PodWatch(this.#api, { log });
    const keepFinishedMs = options.keepFinishedMs ?? 30_000;
    this.#reaper = new PodReaper({ api: this.#api, watch: this.#watch, owner: this.#owner, keepFinishedMs, log });
  }

  get apiServer(): URL {
    return new URL(this.#config.getCurrentCluster()?.server ?? "");
  }

  async make({ signal: wanted, jobId }: MakeSandboxOptions): Promise<Sandbox> {
    if (jobId !== undefined) checkJobId(jobId);
    const signal = AbortSignal.any([wanted, this.#stop.signal]);
    return await this.#faulted(signal, async () => {
      if (jobId === undefined)
        return await this.#makeNamed(`${APP}-${randomBytes(16).toString("hex")}`, undefined, signal);
      for (let again = 0; again < NAMES; again++) {
        try {
          return await this.#makeNamed(podNameOfJob(jobId, again), jobId, signal);
        } catch (error) {
          if (!hasStatus(error, 409)) throw error;
        }
        const found = await this.#find(jobId, signal);
        if (found !== undefined) return found;
      }
      throw unavailable(
        "name_taken",
        "Sandboxes that were made for this script before cannot be removed from the cluster. Try again later.",
      );
    });
  }

  async find(jobId: string, { signal: wanted }: { readonly signal: AbortSignal }): Promise<Sandbox | undefined> {
    checkJobId(jobId);
    const signal = AbortSignal.any([wanted, this.#stop.signal]);
    return await this.#faulted(signal, () => this.#find(jobId, signal));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(
      unavailable(
        "stopping",
        "The script was not started: this service is stopping. Try again, another instance may take it.",
      ),
    );
    await Promise.all([...this.#live].filter(({ hasJob }) => !hasJob).map((sandbox) => sandbox[Symbol.asyncDispose]()));
    await this.#reaper[Symbol.asyncDispose]();
    for (const sandbox of this.#live) sandbox.leave(); // after the reaper, which deletes pods that nobody holds
    await this.#watch[Symbol.asyncDispose]();
    await this.#config[Symbol.asyncDispose]();
  }

  async #faulted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      throw apiFault(error);
    }
  }

  /** @throws {ApiError} 409 if there is another pod of that name */
  async #makeNamed(name: string, jobId: string | undefined, signal: AbortSignal): Promise<Sandbox> {
    if (this.#isHeld(name)) throw isRunning();
    this.#reaper.hold(name);
    try {
      const pod = await this.#create(name, jobId, signal);
      return await this.#enter(pod, { signal, state: jobId === undefined ? PodState.Warm : PodState.Busy });
    } catch (error) {
      this.#reaper.release(name);
      throw error;
    }
  }

  /** A pod that was made by an attempt whose answer got lost is as good. */
  async #create(name: string, jobId: string | undefined, signal: AbortSignal): Promise<PodView> {
    const attempt = randomBytes(8).toString("hex");
    const activeMs = this.#jobMs + (jobId === undefined ? this.#warmMs : 0);
    try {
      return await this.#api.create(
        podSpec({ name, owner: this.#owner, attempt, jobId, deadlineMs: STARTING_MS, activeMs }, this.#template),
        signal,
      );
    } catch (error) {
      if (!hasStatus(error, 409)) throw error;
      const pod = await this.#api.get(name, signal);
      if (pod?.attempt !== attempt) throw error;
      return pod;
    }
  }

  /** Waits for a pod to run and takes hold of it. Deletes it if that fails: by then no script was started in it. */
  async #enter(
    pod: PodView,
    { signal, state }: { readonly signal: AbortSignal; readonly state: PodState },
  ): Promise<Sandbox> {
    let sandbox: PodSandbox | undefined;
    let attached: AttachedPod | undefined;
    try {
      await this.#untilRuns(pod, signal);
      attached = await retried(signal, () => this.#attach(pod, { hasOutput: this.#hasOutput }));
      const marked = this.#mark(pod, state, signal); // it ends with this process now, so that it may have its time
      marked.catch(() => {});
      sandbox = this.#sandbox(pod, attached);
      await within(READY_MS, unlessAborted(sandbox.ready(), signal), () =>
        unavailable(
          "not_ready",
          `The interpreter of the sandbox has not answered within ${READY_MS / 1_000} s. Try again later.`,
        ),
      );
      await marked;
      signal.throwIfAborted();
      return sandbox;
    } catch (error) {
      attached?.close();
      if (sandbox === undefined)
        await this.#api.delete(pod, AbortSignal.timeout(SLACK_MS)).catch(() => {}); // the reaper goes on with it
      else await sandbox[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Nobody holds a pod that does not run yet: its deadline is near, and moved on while it is waited for. */
  async #untilRuns(pod: PodView, signal: AbortSignal): Promise<void> {
    const markMs = STARTING_MS / 4;
    await using _starting = new RenewingLease({
      leaseMs: STARTING_MS,
      renew: async () => {
        const soon = AbortSignal.any([signal, AbortSignal.timeout(markMs)]);
        await this.#api.mark(pod.name, { annotations: deadlineIn(STARTING_MS) }, soon);
        return true;
      },
    });
    await untilPodRuns(this.#watch, pod, { scheduleMs: this.#scheduleMs, signal });
  }

  /** From now on it may be there for longer. */
  async #mark({ name, job }: PodView, state: PodState, signal: AbortSignal): Promise<void> {
    const ms = this.#jobMs + (job === undefined ? this.#warmMs : 0);
    const labels = { [PodLabel.State]: state, [PodLabel.Owner]: this.#owner };
    await this.#api.mark(name, { labels, annotations: deadlineIn(ms) }, signal);
  }

  async #find(jobId: string, signal: AbortSignal): Promise<Sandbox | undefined> {
    const { pods } = await retried(signal, (attempt) =>
      this.#api.list(attempt, { labelSelector: `${PodLabel.Job}=${jobId}` }),
    );
    for (const pod of pods) {
      if (this.#isHeld(pod.name)) throw isRunning();
      this.#reaper.hold(pod.name);
      try {
        const found = await this.#takeUp(pod, signal);
        if (found !== undefined) return found;
      } catch (error) {
        this.#reaper.release(pod.name);
        throw error;
      }
      this.#reaper.release(pod.name);
    }
    return undefined;
  }

  /** @returns undefined if its script was never started, and never will be */
  async #takeUp(pod: PodView, signal: AbortSignal): Promise<Sandbox | undefined> {
    const hasRun = pod.isRunning || isOver(pod);
    if (hasRun && (await this.#hasStarted(pod, signal))) {
      await this.#mark(pod, PodState.Busy, signal).catch((error: unknown) => {
        if (!hasStatus(error, 404)) throw error;
      });
      await this.#untilSeen(pod, signal);
      return this.#sandbox(pod, undefined);
    }
    const left = pod.isRunning && pod.state !== PodState.Starting ? await this.#untilLeft(pod, signal) : undefined;
    if (left !== undefined) return await this.#takeUp(left, signal);
    if (!isOver(pod) && !pod.isGoing) {
      try {
        return await this.#enter(pod, { signal, state: PodState.Busy });
      } catch {
        signal.throwIfAborted(); // it could not be had, and is deleted: another takes its place
      }
    }
    await this.#api.delete(pod, signal);
    const wait = AbortSignal.any([signal, AbortSignal.timeout(IN_THE_WAY_MS)]);
    await this.#watch
      .until(pod.name, (seen) => seen?.uid !== pod.uid || isOver(seen) || undefined, wait)
      .catch(() => signal.throwIfAborted());
    return undefined;
  }

  /**
   * Somebody has held its stdin, and no script was started: it ends if that holder is gone.
   * @returns undefined if it does not
   */
  async #untilLeft({ name, uid }: PodView, signal: AbortSignal): Promise<PodView | undefined> {
    const wait = AbortSignal.any([signal, AbortSignal.timeout(IN_THE_WAY_MS)]);
    const isLeft = (seen: PodView | undefined): PodView | undefined =>
      seen?.uid === uid && isOver(seen) ? seen : undefined;
    return await this.#watch.until(name, isLeft, wait).catch(() => {
      signal.throwIfAborted();
      return undefined;
    });
  }

  /** A watch that is late must not make it seem gone; it may be gone by now. */
  async #untilSeen({ name, uid }: PodView, signal: AbortSignal): Promise<void> {
    const wait = AbortSignal.any([signal, AbortSignal.timeout(SEEN_MS)]);
    await this.#watch.until(name, (seen) => seen?.uid === uid || undefined, wait).catch(() => signal.throwIfAborted());
  }

  async #hasStarted(pod: PodView, signal: AbortSignal): Promise<boolean> {
    try {
      return await hasStarted(this.#api, pod.name, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new ToolError(
        ToolErrorCode.OutcomeUnknown,
        "The script was begun before, and its outcome is lost: its log cannot be read.",
        {
          cause: error,
        },
      );
    }
  }

  #attach({ name }: PodView, streams: { readonly hasInput?: boolean; readonly hasOutput: boolean }) {
    return attachPod(this.#config, { namespace: this.#api.namespace, name, ...streams });
  }

  #sandbox(pod: PodView, attached: AttachedPod | undefined): PodSandbox {
    const sandbox: PodSandbox = new PodSandbox(pod, {
      api: this.#api,
      watch: this.#watch,
      owner: this.#owner,
      attached,
      attachOutput: () => this.#attach(pod, { hasInput: false, hasOutput: true }),
      packages: this.#packages,
      limitBytes: LOG_BYTES,
      jobMs: this.#jobMs,
      released: (name, isFinished) => {
        this.#live.delete(sandbox);
        this.#reaper.release(name, { isFinished });
      },
    });
    this.#live.add(sandbox);
    return sandbox;
  }

  get #jobMs(): number {
    return this.#maxRunMs + SLACK_MS + (this.#packages === undefined ? 0 : SENDING_MS);
  }

  #isHeld(name: string): boolean {
    return [...this.#live].some((sandbox) => sandbox.name === name);
  }
}

const isRunning = (): ToolError => unavailable("sandbox_taken", "This very script is running already.");
