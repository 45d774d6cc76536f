import { conditionOf } from "./kubelet/pod-status.ts";
import type { TestNode } from "./kubelet/test-node.ts";
import type { ObjectStore } from "./store/object-store.ts";
import type { Pod } from "./store/objects.ts";
import { amountOf } from "./store/quantity.ts";

/** Binds pods to nodes with room for what they ask for, and says of a pod why there is none. */
export class Scheduler implements Disposable {
  readonly #store: ObjectStore;
  readonly #nodes: readonly TestNode[];
  readonly #unlisten: () => void;
  #isPlanned = false;
  #isDisposed = false;

  constructor(store: ObjectStore, nodes: readonly TestNode[]) {
    this.#store = store;
    this.#nodes = nodes;
    this.#unlisten = store.onChange(({ resource }) => {
      if (resource === "pods") this.plan();
    });
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
    for (const pod of this.#pods()) {
      if (pod.spec.nodeName !== undefined || pod.metadata.deletionTimestamp !== undefined) continue;
      const faults = this.#nodes.map((node) => this.#whyNot(pod, node));
      const node = this.#nodes[faults.indexOf(undefined)];
      const condition =
        node === undefined
          ? conditionOf(pod, "PodScheduled", false, {
              reason: "Unschedulable",
              message: `0/${this.#nodes.length} nodes are available: ${summary(faults)}.`,
            })
          : conditionOf(pod, "PodScheduled", true);
      const status = { ...pod.status, phase: "Pending", conditions: [condition] };
      this.#store.update("pods", {
        ...pod,
        spec: node === undefined ? pod.spec : { ...pod.spec, nodeName: node.name },
        status,
      });
    }
  }

  #whyNot(pod: Pod, node: TestNode): string | undefined {
    if (node.isLost) return "node(s) had untolerated taint {node.kubernetes.io/unreachable: }";
    if (node.isCordoned) return "node(s) were unschedulable";
    const selector = Object.entries(pod.spec.nodeSelector ?? {});
    if (selector.some(([key, value]) => key !== "kubernetes.io/hostname" || value !== node.name))
      return "node(s) didn't match Pod's node affinity/selector";
    const there = this.#pods().filter(
      ({ spec, status }) => spec.nodeName === node.name && status?.phase !== "Succeeded" && status?.phase !== "Failed",
    );
    const asked = (resource: string): number =>
      [...there, pod].reduce((total, one) => total + requestOf(one, resource), 0);
    if (asked("cpu") > node.cpus) return "Insufficient cpu";
    return asked("memory") > node.memoryBytes ? "Insufficient memory" : undefined;
  }

  #pods(): readonly Pod[] {
    return this.#store.list("pods") as readonly Pod[];
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#unlisten();
  }
}

const requestOf = ({ spec }: Pod, resource: string): number =>
  spec.containers.reduce(
    (total, { resources }) => total + amountOf(resources?.requests?.[resource] ?? resources?.limits?.[resource] ?? 0),
    0,
  );

function summary(faults: readonly (string | undefined)[]): string {
  const kinds = [...new Set(faults)];
  return kinds.map((kind) => `${faults.filter((fault) => fault === kind).length} ${kind}`).join(", ");
}
