import type { Pod } from "../store/objects.ts";
import type { Change, PodStore } from "../store/pod-store.ts";
import { conditionOf } from "./pod-status.ts";
import { type PodEnding, PodWorker, type RunningContainer, type StartFault } from "./pod-worker.ts";

export interface TestNodeOptions {
  readonly name: string;
  /** True if pods may reach the networks of the machine. */
  readonly hasNetwork: boolean;
}

/** A node, with a kubelet that runs the pods that are bound to it as processes of this machine. */
export class TestNode implements AsyncDisposable {
  readonly name: string;
  /** No pod is bound to it while this is so. */
  isCordoned = false;
  /** What goes wrong with the next pods that start here, one each. */
  readonly startFaults: StartFault[] = [];
  readonly #store: PodStore;
  readonly #hasNetwork: boolean;
  readonly #workers = new Map<string, PodWorker>();
  readonly #work = new Set<Promise<void>>();
  readonly #unlisten: () => void;
  #isLost = false;

  constructor(store: PodStore, { name, hasNetwork }: TestNodeOptions) {
    this.name = name;
    this.#store = store;
    this.#hasNetwork = hasNetwork;
    this.#unlisten = store.onChange((change) => this.#see(change));
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Undefined if it has not been started here, or has been removed. */
  container(pod: Pod): RunningContainer | undefined {
    return this.#workers.get(pod.metadata.uid ?? "")?.container();
  }

  /** Ends a running pod in a way of its own. */
  async end(namespace: string, name: string, ending: PodEnding): Promise<void> {
    const { uid = "" } = this.#store.get(namespace, name).metadata;
    await this.#workers.get(uid)?.force(ending);
  }

  /**
   * Is not heard of any more, as if the network to it had failed: its pods are marked as lost and to be deleted, and
   * stay so until they are deleted without grace. Their processes run on until then.
   */
  lose(): void {
    this.#isLost = true;
    for (const worker of this.#workers.values()) worker.silence();
    for (const pod of this.#store.list()) {
      const { phase = "Pending", conditions: before = [] } = pod.status ?? {};
      if (pod.spec.nodeName === undefined || phase === "Succeeded" || phase === "Failed") continue;
      const conditions = [
        ...before.filter(({ type }) => type !== "Ready"),
        conditionOf(pod, "Ready", false),
        conditionOf(pod, "DisruptionTarget", true, {
          reason: "DeletionByTaintManager",
          message: "Taint manager: deleting due to NoExecute taint",
        }),
      ];
      this.#store.markDeleted({ ...pod, status: { ...pod.status, phase, conditions } }, 30);
    }
  }

  #see({ pod, before, isRemoved }: Change): void {
    if (pod.spec.nodeName === undefined) return;
    const worker = this.#workers.get(pod.metadata.uid ?? "");
    const { deletionTimestamp } = pod.metadata;
    if (isRemoved) this.#track(this.#forget(pod, worker));
    else if (this.#isLost) return;
    else if (worker === undefined && deletionTimestamp === undefined) this.#track(this.#start(pod));
    else if (deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined)
      this.#track(worker?.stop() ?? Promise.resolve());
  }

  async #start(pod: Pod): Promise<void> {
    const { namespace, name, uid = "" } = pod.metadata;
    const worker = new PodWorker({
      pod,
      hasNetwork: this.#hasNetwork,
      fault: this.startFaults.shift(),
      report: (status) => {
        const current = this.#store.find(namespace, name);
        if (current?.metadata.uid === uid) this.#store.update({ ...current, status: status(current) });
      },
    });
    this.#workers.set(uid, worker);
    await Promise.resolve(); // the change that began this is told to all first
    await worker.start();
  }

  async #forget(pod: Pod, worker: PodWorker | undefined): Promise<void> {
    await worker?.stop();
    this.#workers.delete(pod.metadata.uid ?? "");
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  /** Resolves when no process of a pod is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#unlisten();
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
    await Promise.all(this.#work);
  }
}
