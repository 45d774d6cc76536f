import type { Writable } from "node:stream";
import { type Container, type ContainerState, type Pod, type PodStatus, timestamp } from "../store/objects.ts";
import { ContainerLog } from "./container-log.ts";
import { containerOptionsOf } from "./container-options.ts";
import { type ContainerEnd, type ContainerProcess, startContainerProcess } from "./container-process.ts";
import { statusOf, waiting } from "./pod-status.ts";

/** How the start of a pod can be made to fail. */
export type StartFault = "ErrImagePull" | "CreateContainerConfigError" | "StartError";

/** How a running pod can be made to end. */
export type PodEnding = "OOMKilled" | "Evicted";

const PULL_RETRY_MS = 200;

export interface PodWorkerOptions {
  readonly pod: Pod;
  readonly hasNetwork: boolean;
  readonly fault: StartFault | undefined;
  /** Called with each new status, in order. */
  readonly report: (status: (pod: Pod) => PodStatus) => void;
}

/** The container of a pod, as those see it who attach to it or read its log. */
export interface RunningContainer {
  readonly log: ContainerLog;
  readonly process: ContainerProcess | undefined;
  readonly state: ContainerState;
  /** Null if there is none, or it has been closed. */
  readonly stdin: Writable | null;
}

/**
 * Runs a pod of one container on its node, once: a container that has ended is not started again, as with
 * `restartPolicy: Never`.
 */
export class PodWorker {
  readonly #options: PodWorkerOptions;
  readonly #log = new ContainerLog();
  #process: ContainerProcess | undefined;
  #state = waiting("ContainerCreating");
  #end: Partial<Pick<PodStatus, "reason" | "message">> = {};
  #forced: PodEnding | undefined;
  #isStopping = false;
  #isSilent = false;

  constructor(options: PodWorkerOptions) {
    this.#options = options;
  }

  container(): RunningContainer {
    const stdin = this.#process?.stdin?.writable === true ? this.#process.stdin : null;
    return { log: this.#log, process: this.#process, state: this.#state, stdin };
  }

  async start(): Promise<void> {
    this.#report();
    const [container] = this.#options.pod.spec.containers;
    if (container === undefined || this.#isStopping) return;
    const { fault } = this.#options;
    if (fault === "ErrImagePull") this.#failPull(container);
    else if (fault === "CreateContainerConfigError") this.#set(waiting(fault, 'secret "missing" not found'));
    else await this.#run(fault === "StartError" ? { ...container, command: ["/nonexistent"] } : container);
  }

  /** Kills its processes. Resolves when all are gone. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#process?.kill();
    await this.#process?.ended;
    this.#log.end();
  }

  /** Reports nothing any more, as a node that is cut off. */
  silence(): void {
    this.#isSilent = true;
  }

  async force(ending: PodEnding): Promise<void> {
    this.#forced = ending;
    if (ending === "Evicted") this.#end = { reason: "Evicted", message: "The node was low on resource: memory." };
    await this.stop();
    this.#report();
  }

  async #run(container: Container): Promise<void> {
    const { pod, hasNetwork } = this.#options;
    const process = startContainerProcess(containerOptionsOf(pod, container, hasNetwork));
    this.#process = process;
    for (const stream of [process.stdout, process.stderr]) stream.on("data", (data: Buffer) => this.#log.append(data));
    const startFault = await process.started;
    const startedAt = timestamp();
    if (startFault === undefined && !this.#isStopping) this.#set({ running: { startedAt } });
    const end = await process.ended;
    this.#log.end();
    const hasStarted = startFault === undefined || this.#isStopping;
    this.#set({
      terminated: {
        exitCode: hasStarted ? end.exitCode : 128,
        reason: hasStarted ? this.#reasonOf(end) : "StartError",
        ...(hasStarted ? {} : { message: `failed to create containerd task: ${startFault}` }),
        startedAt,
        finishedAt: timestamp(),
      },
    });
  }

  #reasonOf({ exitCode, isOutOfMemory }: ContainerEnd): string {
    if (isOutOfMemory || this.#forced === "OOMKilled") return "OOMKilled";
    return exitCode === 0 ? "Completed" : "Error";
  }

  #failPull({ image = "" }: Container): void {
    const missing = `failed to resolve reference "${image}": ${image}: not found`;
    this.#set(waiting("ErrImagePull", missing));
    const backOff = waiting("ImagePullBackOff", `Back-off pulling image "${image}": ErrImagePull: ${missing}`);
    setTimeout(() => !this.#isStopping && this.#set(backOff), PULL_RETRY_MS).unref();
  }

  #set(state: ContainerState): void {
    this.#state = state;
    this.#report();
  }

  /** A kubelet tells that containers have ended before it tells the end of their pod, and why. */
  #report(): void {
    if (this.#isSilent) return;
    const { report } = this.#options;
    if (this.#state.terminated !== undefined)
      report((before) => ({ ...statusOf(before, this.#state), phase: before.status?.phase ?? "Pending" }));
    report((before) => statusOf(before, this.#state, this.#end));
  }
}
