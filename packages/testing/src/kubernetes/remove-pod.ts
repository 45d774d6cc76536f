import type { ObjectStore } from "./store/object-store.ts";
import { type Pod, timestamp } from "./store/objects.ts";

/**
 * Removes a pod, unless finalizers hold it: then it is marked, and stays until the last of them is taken away.
 * @returns the pod as it was last
 */
export function removePod(store: ObjectStore, pod: Pod): Pod {
  const { metadata } = pod;
  if ((metadata.finalizers ?? []).length === 0) return store.remove("pods", metadata.namespace, metadata.name) as Pod;
  const marked = {
    ...metadata,
    deletionTimestamp: metadata.deletionTimestamp ?? timestamp(),
    deletionGracePeriodSeconds: 0,
  };
  return store.update("pods", { ...pod, metadata: marked });
}
