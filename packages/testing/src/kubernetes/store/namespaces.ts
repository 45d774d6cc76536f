import type { ObjectStore } from "./object-store.ts";
import type { KubeObject } from "./objects.ts";
import { resources } from "./resources.ts";

/** With the service account that each namespace has. */
export function createNamespace(store: ObjectStore, object: KubeObject): KubeObject {
  const namespace = store.create("namespaces", object);
  store.create("serviceaccounts", { metadata: { name: "default", namespace: object.metadata.name } });
  return namespace;
}

/** With all that is in it, at once: on a real cluster that takes its time. */
export function removeNamespace(store: ObjectStore, name: string): KubeObject {
  for (const resource of resources.filter(({ isNamespaced }) => isNamespaced)) {
    for (const { metadata } of store.list(resource.name, name)) store.remove(resource.name, name, metadata.name);
  }
  return store.remove("namespaces", undefined, name);
}
