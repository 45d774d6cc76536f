import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removePod } from "../remove-pod.ts";
import type { Change, ObjectStore } from "../store/object-store.ts";
import { type Pod, timestamp } from "../store/objects.ts";
import type { NodeFacts } from "./container-options.ts";
import { conditionOf } from "./pod-status.ts";
import { type PodEnding, PodWorker, type RunningContainer, type StartFault } from "./pod-worker.ts";

export interface TestNodeOptions {
  readonly name: string;
  /** What pods may ask for, together. */
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly images: readonly string[];
  readonly claims: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether a pod may reach what the machine reaches. */
  readonly hasNetwork: (pod: Pod) => boolean;
}

/** A node, with a kubelet that runs the pods that are bound to it as processes of this machine. */
export class TestNode implements AsyncDisposable {
  readonly name: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** No pod is bound to it while this is so. */
  isCordoned = false;
  /** What goes wrong with the next pods that start here, one each. */
  readonly startFaults: StartFault[] = [];
  readonly #store: ObjectStore;
  readonly #options: TestNodeOptions;
  readonly #workers = new Map<string, PodWorker>();
  readonly #work = new Set<Promise<void>>();
  readonly #secrets = mkdtempSync(join(tmpdir(), "rockbot-node-"));
  readonly #unlisten: () => void;
  #isLost = false;

  constructor(store: ObjectStore, options: TestNodeOptions) {
    this.name = options.name;
    this.cpus = options.cpus;
    this.memoryBytes = options.memoryBytes;
    this.#store = store;
    this.#options = options;
    chmodSync(this.#secrets, 0o755); // pods have other users
    writeFileSync(join(this.#secrets, "token"), "a service account's token", { mode: 0o644 });
    this.#unlisten = store.onChange((change) => this.#see(change));
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Undefined if it has not been started here, or has been removed. */
  container(pod: Pod, name: string): RunningContainer | undefined {
    return this.#workers.get(pod.metadata.uid ?? "")?.container(name);
  }

  /** Ends a running pod in a way of its own. */
  async end(namespace: string, name: string, ending: PodEnding): Promise<void> {
    const { uid = "" } = this.#store.get("pods", namespace, name).metadata;
    await this.#workers.get(uid)?.force(ending);
  }

  /**
   * Is not heard of any more, as if the network to it had failed: its pods are marked as lost and to be deleted, and
   * stay so until they are deleted without grace. Their processes run on until then.
   */
  lose(): void {
    this.#isLost = true;
    for (const worker of this.#workers.values()) worker.silence();
    for (const pod of this.#store.list("pods") as readonly Pod[]) {
      if (pod.spec.nodeName !== this.name || pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed")
        continue;
      const conditions = [
        ...(pod.status?.conditions ?? []).filter(({ type }) => type !== "Ready"),
        conditionOf(pod, "Ready", false),
        conditionOf(pod, "DisruptionTarget", true, {
          reason: "DeletionByTaintManager",
          message: "Taint manager: deleting due to NoExecute taint",
        }),
      ];
      const status = { ...pod.status, phase: pod.status?.phase ?? "Pending", conditions };
      const metadata = {
        ...pod.metadata,
        deletionTimestamp: timestamp(),
        deletionGracePeriodSeconds: pod.spec.terminationGracePeriodSeconds ?? 30,
      };
      this.#store.update("pods", { ...pod, metadata, status });
    }
  }

  #see({ resource, object, before, isRemoved }: Change): void {
    if (resource !== "pods") return;
    const pod = object as Pod;
    if (pod.spec.nodeName !== this.name) return;
    const worker = this.#workers.get(pod.metadata.uid ?? "");
    if (isRemoved) this.#track(this.#forget(pod, worker));
    else if (worker === undefined && pod.metadata.deletionTimestamp === undefined && !this.#isLost)
      this.#track(this.#start(pod));
    else if (
      worker !== undefined &&
      !this.#isLost &&
      pod.metadata.deletionTimestamp !== undefined &&
      isSooner(pod, before as Pod | undefined)
    )
      this.#track(this.#terminate(pod, worker));
  }

  async #start(pod: Pod): Promise<void> {
    const { images, claims, environment, hasNetwork } = this.#options;
    const facts: NodeFacts = { claims, environment, hasNetwork: hasNetwork(pod), tokenFolder: this.#secrets };
    const { namespace, name, uid = "" } = pod.metadata;
    const worker = new PodWorker({
      pod,
      facts,
      hasImage: (image) => images.some((one) => image === one || image.startsWith(`${one}@sha256:`)),
      hasObject: (resource, wanted) => this.#store.find(resource, namespace, wanted) !== undefined,
      fault: this.startFaults.shift(),
      report: (status) => {
        const current = this.#store.find("pods", namespace, name) as Pod | undefined;
        if (current?.metadata.uid === uid) this.#store.update("pods", { ...current, status: status(current) });
      },
    });
    this.#workers.set(uid, worker);
    await Promise.resolve(); // the change that began this is told to all first
    await worker.start();
  }

  async #terminate(pod: Pod, worker: PodWorker): Promise<void> {
    await worker.stop((pod.metadata.deletionGracePeriodSeconds ?? 30) * 1_000);
    const { namespace, name, uid } = pod.metadata;
    const current = this.#store.find("pods", namespace, name) as Pod | undefined;
    if (current?.metadata.uid === uid && !this.#isLost && current !== undefined) removePod(this.#store, current);
  }

  async #forget(pod: Pod, worker: PodWorker | undefined): Promise<void> {
    await worker?.stop(0);
    this.#workers.delete(pod.metadata.uid ?? "");
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  /** Resolves when no process of a pod is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#unlisten();
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop(0)));
    await Promise.all(this.#work);
    rmSync(this.#secrets, { recursive: true, force: true });
  }
}

/** Whether a pod is to end, and was not before, or not so soon. */
const isSooner = (pod: Pod, before: Pod | undefined): boolean =>
  before?.metadata.deletionTimestamp === undefined ||
  (pod.metadata.deletionGracePeriodSeconds ?? 30) < (before.metadata.deletionGracePeriodSeconds ?? 30);
