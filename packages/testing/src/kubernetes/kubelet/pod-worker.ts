import type { Writable } from "node:stream";
import type { Container, ContainerState, Pod, PodStatus, TerminatedState } from "../store/objects.ts";
import { timestamp } from "../store/objects.ts";
import { ContainerLog } from "./container-log.ts";
import { configurationFault, containerOptionsOf, type NodeFacts } from "./container-options.ts";
import { type ContainerProcess, startContainerProcess } from "./container-process.ts";
import { statusOf, waiting } from "./pod-status.ts";

/** How the start of a pod can be made to fail, whatever the pod asks. */
export type StartFault = "ErrImagePull" | "CreateContainerConfigError" | "StartError" | "Stuck";

/** How a running pod can be made to end. */
export type PodEnding = "OOMKilled" | "Evicted" | "Error";

const PULL_RETRY_MS = 200;

export interface PodWorkerOptions {
  readonly pod: Pod;
  readonly facts: NodeFacts;
  /** Whether a node has an image, by its name. */
  readonly hasImage: (image: string) => boolean;
  readonly hasObject: (resource: string, name: string) => boolean;
  readonly fault: StartFault | undefined;
  /** Called with each new status, in order. */
  readonly report: (status: (pod: Pod) => PodStatus) => void;
}

/** One container of a pod, as those see it who attach to it or read its log. */
export interface RunningContainer {
  readonly spec: Container;
  readonly log: ContainerLog;
  readonly process: ContainerProcess | undefined;
  readonly state: ContainerState;
  /** Null if there is none, or it has been closed. */
  readonly stdin: Writable | null;
}

/** Runs one pod on its node, once: a container that has ended is not started again, as with `restartPolicy: Never`. */
export class PodWorker {
  readonly #options: PodWorkerOptions;
  readonly #logs = new Map<string, ContainerLog>();
  readonly #processes = new Map<string, ContainerProcess>();
  readonly #states = new Map<string, ContainerState>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #end: Partial<Pick<PodStatus, "reason" | "message">> = {};
  #forced: PodEnding | undefined;
  #isStopping = false;
  #isSilent = false;

  constructor(options: PodWorkerOptions) {
    this.#options = options;
    for (const { name } of options.pod.spec.containers) this.#logs.set(name, new ContainerLog());
  }

  async start(): Promise<void> {
    this.#report();
    const { activeDeadlineSeconds } = this.#options.pod.spec;
    if (activeDeadlineSeconds !== undefined) this.#later(activeDeadlineSeconds * 1_000, () => this.#exceedDeadline());
    await Promise.all(this.#options.pod.spec.containers.map((container) => this.#startContainer(container)));
  }

  container(name: string): RunningContainer | undefined {
    const spec = this.#options.pod.spec.containers.find((one) => one.name === name);
    const log = this.#logs.get(name);
    if (spec === undefined || log === undefined) return undefined;
    const process = this.#processes.get(name);
    return {
      spec,
      log,
      process,
      state: this.#states.get(name) ?? waiting("ContainerCreating"),
      stdin: process?.stdin?.writable === true ? process.stdin : null,
    };
  }

  /** Ends its processes: SIGTERM, and SIGKILL after the grace. Resolves when all are gone. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    const processes = [...this.#processes.values()];
    if (graceMs > 0) {
      for (const process of processes) process.terminate();
      this.#later(graceMs, () => this.kill());
    } else this.kill();
    await Promise.all(processes.map((process) => process.ended));
    for (const log of this.#logs.values()) log.end();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  kill(): void {
    for (const process of this.#processes.values()) process.kill();
  }

  /** Reports nothing any more, as a node that is cut off. */
  silence(): void {
    this.#isSilent = true;
  }

  async force(ending: PodEnding): Promise<void> {
    this.#forced = ending;
    if (ending === "Evicted")
      this.#end = {
        reason: "Evicted",
        message: "The node was low on resource: memory. Threshold quantity: 100Mi, available: 84Mi. ",
      };
    await this.stop(0);
    this.#report();
  }

  async #exceedDeadline(): Promise<void> {
    const hasEnded = this.#options.pod.spec.containers.every(
      ({ name }) => this.#states.get(name)?.terminated !== undefined,
    );
    if (this.#isStopping || hasEnded) return;
    this.#end = {
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    };
    this.#report();
    await this.stop((this.#options.pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000);
    this.#report();
  }

  async #startContainer(container: Container): Promise<void> {
    const { pod, facts, hasImage, hasObject, fault } = this.#options;
    if (fault === "Stuck" || this.#isStopping) return;
    const image = container.image ?? "";
    if (fault === "ErrImagePull" || !hasImage(image)) return this.#failPull(container, image);
    const why =
      fault === "CreateContainerConfigError"
        ? 'secret "missing" not found'
        : configurationFault(pod, container, hasObject);
    if (why !== undefined) return this.#set(container, waiting("CreateContainerConfigError", why));
    const command = fault === "StartError" ? ["/nonexistent"] : container.command;
    const process = startContainerProcess(
      containerOptionsOf(pod, command === undefined ? container : { ...container, command }, facts),
    );
    this.#processes.set(container.name, process);
    const log = this.#logs.get(container.name);
    for (const stream of [process.stdout, process.stderr]) stream.on("data", (data: Buffer) => log?.append(data));
    const startFault = await process.started;
    const startedAt = timestamp();
    if (startFault === undefined && !this.#isStopping) this.#set(container, { running: { startedAt } });
    const end = await process.ended;
    log?.end();
    const terminated: TerminatedState =
      startFault !== undefined && !this.#isStopping
        ? {
            exitCode: 128,
            reason: "StartError",
            message: `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ${startFault}: unknown`,
            startedAt: "1970-01-01T00:00:00Z",
            finishedAt: timestamp(),
          }
        : {
            exitCode: this.#forced === "Error" ? 1 : end.exitCode,
            reason: this.#reasonOf(end),
            startedAt,
            finishedAt: timestamp(),
          };
    this.#set(container, { terminated: { ...terminated, containerID: `containerd://${container.name}` } });
  }

  #reasonOf({ exitCode, isOutOfMemory }: { readonly exitCode: number; readonly isOutOfMemory: boolean }): string {
    if (isOutOfMemory || this.#forced === "OOMKilled") return "OOMKilled";
    return exitCode === 0 ? "Completed" : "Error";
  }

  #failPull(container: Container, image: string): void {
    if (container.imagePullPolicy === "Never") {
      this.#set(
        container,
        waiting("ErrImageNeverPull", `Container image "${image}" is not present with pull policy of Never`),
      );
      return;
    }
    const missing = `failed to resolve reference "${image}": ${image}: not found`;
    this.#set(container, waiting("ErrImagePull", missing));
    this.#later(PULL_RETRY_MS, () =>
      this.#set(container, waiting("ImagePullBackOff", `Back-off pulling image "${image}": ErrImagePull: ${missing}`)),
    );
  }

  #set({ name }: Container, state: ContainerState): void {
    this.#states.set(name, state);
    this.#report();
  }

  /** A kubelet tells that containers have ended before it tells the end of their pod, and why. */
  #report(): void {
    if (this.#isSilent) return;
    const { report, pod } = this.#options;
    const haveEnded = pod.spec.containers.every(({ name }) => this.#states.get(name)?.terminated !== undefined);
    if (haveEnded)
      report((before) => ({ ...statusOf(before, this.#states), phase: before.status?.phase ?? "Pending" }));
    report((before) => statusOf(before, this.#states, this.#end));
  }

  #later(ms: number, act: () => void | Promise<void>): void {
    const timer = setTimeout(() => void act(), ms);
    timer.unref();
    this.#timers.add(timer);
  }
}
