import { randomUUID } from "node:crypto";
import { alreadyExists, conflict, expired, notFound } from "./api-failure.ts";
import { type KubeObject, timestamp } from "./objects.ts";

/** How many changes may be read again by a watch. */
const KEPT_CHANGES = 5_000;

export interface Change {
  readonly version: number;
  readonly resource: string;
  /** Undefined if there was none before. */
  readonly before: KubeObject | undefined;
  /** As it was last, if it has been removed. */
  readonly object: KubeObject;
  readonly isRemoved: boolean;
}

/**
 * All objects, and their last changes, in order. Objects are never changed in place: each change makes a new one with a
 * higher version.
 */
export class ObjectStore {
  readonly #objects = new Map<string, KubeObject>();
  readonly #listeners = new Set<(change: Change) => void>();
  #changes: Change[] = [];
  #version = 1;
  #compactedAt = 0;

  get version(): number {
    return this.#version;
  }

  /** @throws {ApiFailure} 409 AlreadyExists */
  create<T extends KubeObject>(resource: string, object: T): T {
    const { name, namespace } = object.metadata;
    if (this.find(resource, namespace, name) !== undefined) throw alreadyExists(resource, name);
    const metadata = { ...object.metadata, uid: randomUUID(), creationTimestamp: timestamp() };
    return this.#put(resource, { ...object, metadata }, undefined);
  }

  find(resource: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#objects.get(keyOf(resource, namespace, name));
  }

  /** @throws {ApiFailure} 404 */
  get(resource: string, namespace: string | undefined, name: string): KubeObject {
    const found = this.find(resource, namespace, name);
    if (found === undefined) throw notFound(resource, name);
    return found;
  }

  /** By namespace and name. */
  list(resource: string, namespace?: string): readonly KubeObject[] {
    const all = [...this.#objects].filter(([key]) =>
      key.startsWith(namespace === undefined ? `${resource}/` : `${resource}/${namespace}/`),
    );
    return all.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object);
  }

  /** @throws {ApiFailure} 404; 409 Conflict if it is not at `expectedVersion` any more */
  update<T extends KubeObject>(
    resource: string,
    object: T,
    { expectedVersion }: { readonly expectedVersion?: string | undefined } = {},
  ): T {
    const { name, namespace } = object.metadata;
    const before = this.get(resource, namespace, name);
    if (
      expectedVersion !== undefined &&
      expectedVersion !== "" &&
      before.metadata.resourceVersion !== expectedVersion
    ) {
      throw conflict(
        resource,
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
      );
    }
    if (isSame(before, object)) return before as T;
    return this.#put(resource, object, before);
  }

  /** @throws {ApiFailure} 404 */
  remove(resource: string, namespace: string | undefined, name: string): KubeObject {
    const before = this.get(resource, namespace, name);
    const removed = { ...before, metadata: { ...before.metadata, resourceVersion: String(++this.#version) } };
    this.#objects.delete(keyOf(resource, namespace, name));
    this.#tell({ version: this.#version, resource, before, object: removed, isRemoved: true });
    return removed;
  }

  /** @throws {ApiFailure} 410 Expired if changes after `version` are not kept any more */
  changesSince(version: number, resource: string): readonly Change[] {
    if (version < this.#compactedAt) throw expired(`too old resource version: ${version} (${this.#compactedAt})`);
    return this.#changes.filter((change) => change.version > version && change.resource === resource);
  }

  /** Forgets all past changes: who asks for changes since a version before now gets 410. */
  compact(): void {
    this.#compactedAt = ++this.#version;
    this.#changes = [];
  }

  /** @returns what stops it */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #put<T extends KubeObject>(resource: string, object: T, before: KubeObject | undefined): T {
    const stored = structuredClone({
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(++this.#version) },
    });
    this.#objects.set(keyOf(resource, stored.metadata.namespace, stored.metadata.name), stored);
    this.#tell({ version: this.#version, resource, before, object: stored, isRemoved: false });
    return stored;
  }

  #tell(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > KEPT_CHANGES) {
      const [oldest] = this.#changes.splice(0, KEPT_CHANGES / 2).slice(-1);
      this.#compactedAt = oldest?.version ?? this.#compactedAt;
    }
    for (const listener of [...this.#listeners]) listener(change);
  }
}

const keyOf = (resource: string, namespace: string | undefined, name: string): string =>
  `${resource}/${namespace ?? ""}/${name}`;

function isSame(before: KubeObject, after: KubeObject): boolean {
  const bare = (object: KubeObject): string =>
    JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: undefined } });
  return bare(before) === bare(after);
}
