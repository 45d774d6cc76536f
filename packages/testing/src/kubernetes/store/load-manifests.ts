import { createNamespace } from "./namespaces.ts";
import type { ObjectStore } from "./object-store.ts";
import type { KubeObject } from "./objects.ts";
import { resourceOfKind } from "./resources.ts";

/**
 * Stores objects as they are written in manifests; namespaces first, those that are only named too, each with its
 * `default` service account.
 */
export function loadManifests(store: ObjectStore, manifests: readonly KubeObject[]): void {
  const named = new Set([
    "default",
    ...manifests.map(({ metadata }) => metadata.namespace).filter((name) => name !== undefined),
  ]);
  const given = manifests.filter(({ kind }) => kind === "Namespace");
  const missing = [...named]
    .filter((name) => !given.some(({ metadata }) => metadata.name === name))
    .map((name): KubeObject => ({ metadata: { name } }));
  for (const { apiVersion: _version, kind: _kind, ...namespace } of [...given, ...missing]) {
    createNamespace(store, namespace);
  }
  for (const { apiVersion = "v1", kind = "", ...object } of manifests.filter((one) => one.kind !== "Namespace")) {
    store.create(resourceOfKind(apiVersion, kind).name, object);
  }
}
