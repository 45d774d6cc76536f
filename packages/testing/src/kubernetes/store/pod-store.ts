import { randomUUID } from "node:crypto";
import { alreadyExists, conflict, expired, notFound } from "./api-failure.ts";
import { type Pod, timestamp } from "./objects.ts";

/** How many changes may be read again by a watch. */
const KEPT_CHANGES = 5_000;

export interface Change {
  readonly version: number;
  /** Undefined if there was none before. */
  readonly before: Pod | undefined;
  /** As it was last, if it has been removed. */
  readonly pod: Pod;
  readonly isRemoved: boolean;
}

/**
 * All pods, and their last changes, in order. Pods are never changed in place: each change makes a new one with a
 * higher version.
 */
export class PodStore {
  readonly #pods = new Map<string, Pod>();
  readonly #listeners = new Set<(change: Change) => void>();
  #changes: Change[] = [];
  #version = 1;
  #forgottenAt = 0;

  get version(): number {
    return this.#version;
  }

  /** @throws {ApiFailure} 409 AlreadyExists */
  create(pod: Pod): Pod {
    const { name, namespace } = pod.metadata;
    if (this.find(namespace, name) !== undefined) throw alreadyExists(name);
    const metadata = { ...pod.metadata, uid: randomUUID(), creationTimestamp: timestamp() };
    return this.#put({ ...pod, metadata }, undefined);
  }

  find(namespace: string | undefined, name: string): Pod | undefined {
    return this.#pods.get(keyOf(namespace, name));
  }

  /** @throws {ApiFailure} 404 */
  get(namespace: string | undefined, name: string): Pod {
    const found = this.find(namespace, name);
    if (found === undefined) throw notFound(name);
    return found;
  }

  /** By name; of all namespaces where none is given. */
  list(namespace?: string): readonly Pod[] {
    const all = [...this.#pods.values()].filter(
      ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
    );
    return all.sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  }

  /** @throws {ApiFailure} 404; 409 Conflict if it is not at `expectedVersion` any more */
  update(pod: Pod, { expectedVersion }: { readonly expectedVersion?: string | undefined } = {}): Pod {
    const { name, namespace } = pod.metadata;
    const before = this.get(namespace, name);
    if (expectedVersion !== undefined && before.metadata.resourceVersion !== expectedVersion)
      throw conflict(
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
      );
    return isSame(before, pod) ? before : this.#put(pod, before);
  }

  /** As one that is to go. */
  markDeleted(pod: Pod, deletionGracePeriodSeconds: number): Pod {
    const deletionTimestamp = pod.metadata.deletionTimestamp ?? timestamp();
    return this.update({ ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds } });
  }

  /** @throws {ApiFailure} 404 */
  remove(namespace: string | undefined, name: string): Pod {
    const before = this.get(namespace, name);
    const removed = { ...before, metadata: { ...before.metadata, resourceVersion: String(++this.#version) } };
    this.#pods.delete(keyOf(namespace, name));
    this.#tell({ version: this.#version, before, pod: removed, isRemoved: true });
    return removed;
  }

  /** @throws {ApiFailure} 410 Expired if changes after `version` are not kept any more */
  changesSince(version: number): readonly Change[] {
    if (version < this.#forgottenAt) throw expired(`too old resource version: ${version} (${this.#forgottenAt})`);
    return this.#changes.filter((change) => change.version > version);
  }

  /** @returns what stops it */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #put(pod: Pod, before: Pod | undefined): Pod {
    const metadata = { ...pod.metadata, resourceVersion: String(++this.#version) };
    const stored = structuredClone({ ...pod, metadata });
    this.#pods.set(keyOf(metadata.namespace, metadata.name), stored);
    this.#tell({ version: this.#version, before, pod: stored, isRemoved: false });
    return stored;
  }

  #tell(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > KEPT_CHANGES) {
      const [oldest] = this.#changes.splice(0, KEPT_CHANGES / 2).slice(-1);
      this.#forgottenAt = oldest?.version ?? this.#forgottenAt;
    }
    for (const listener of [...this.#listeners]) listener(change);
  }
}

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;

function isSame(before: Pod, after: Pod): boolean {
  const bare = (pod: Pod): string =>
    JSON.stringify({ ...pod, metadata: { ...pod.metadata, resourceVersion: undefined } });
  return bare(before) === bare(after);
}
