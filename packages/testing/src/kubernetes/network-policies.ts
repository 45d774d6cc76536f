import type { ObjectStore } from "./store/object-store.ts";
import type { KubeObject, Pod } from "./store/objects.ts";

type NetworkPolicy = KubeObject & {
  readonly spec: {
    readonly podSelector: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly policyTypes?: readonly string[];
    readonly egress?: readonly object[];
  };
};

/**
 * Whether policies of a pod's namespace forbid it to reach anything: at least one is of its egress, and none lets
 * anything through.
 */
export function isIsolated(store: ObjectStore, { metadata }: Pod): boolean {
  const policies = (store.list("networkpolicies", metadata.namespace) as readonly NetworkPolicy[]).filter(
    ({ spec }) =>
      spec.policyTypes?.includes("Egress") === true &&
      Object.entries(spec.podSelector.matchLabels ?? {}).every(([key, value]) => metadata.labels?.[key] === value),
  );
  return policies.length > 0 && policies.every(({ spec }) => (spec.egress ?? []).length === 0);
}
