import { conditionOf } from "./kubelet/pod-status.ts";
import type { TestNode } from "./kubelet/test-node.ts";
import type { PodStore } from "./store/pod-store.ts";

/** Binds pods to the node while it takes some; says of a pod that it takes none. */
export class Scheduler implements Disposable {
  readonly #store: PodStore;
  readonly #node: TestNode;
  readonly #unlisten: () => void;
  #isPlanned = false;
  #isDisposed = false;

  constructor(store: PodStore, node: TestNode) {
    this.#store = store;
    this.#node = node;
    this.#unlisten = store.onChange(() => this.plan());
  }

  /** Looks at all pods without a node once more, soon. */
  plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      if (!this.#isDisposed) this.#bindAll();
    });
  }

  #bindAll(): void {
    const { name: nodeName, isCordoned, isLost } = this.#node;
    for (const pod of this.#store.list()) {
      if (pod.spec.nodeName !== undefined || pod.metadata.deletionTimestamp !== undefined) continue;
      const isBound = !isCordoned && !isLost && pod.spec.nodeSelector === undefined; // the node has no label
      const why = { reason: "Unschedulable", message: "0/1 nodes are available." };
      const condition = conditionOf(pod, "PodScheduled", isBound, isBound ? {} : why);
      const status = { ...pod.status, phase: "Pending", conditions: [condition] };
      this.#store.update({ ...pod, spec: isBound ? { ...pod.spec, nodeName } : pod.spec, status });
    }
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#unlisten();
  }
}
