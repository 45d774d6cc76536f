import { bytesOf, isNarrow, namespaceOf } from "../entry-record.ts";
import type { EntryRecords } from "../entry-records.ts";
import { MemoryChangedError } from "../memory-changed-error.ts";
import { type ExceededBound, memoryFullError } from "../memory-full-error.ts";
import { DEFAULT_LIMITS, type MemoryLimits } from "../memory-limits.ts";
import { ownedMemory } from "../owned-memory.ts";
import type { MemoryEntryInfo, OwnedMemory, WorkingMemory } from "../working-memory.ts";

/** How often expired texts are thrown away that nobody has asked for. */
const SWEEP_MS = 30_000;

interface Kept {
  readonly info: MemoryEntryInfo;
  readonly value: string;
  readonly bytes: number;
}

/** Working memory in this process, which ends with it. */
export function createWorkingMemory(limits: Partial<MemoryLimits> = {}): WorkingMemory {
  const total = { bytes: 0 };
  const owners = new Map<string, OwnedEntries>();
  const bounds = { ...DEFAULT_LIMITS, ...limits };

  /** @param writer the owner that is about to write: kept even if all its entries have expired */
  function sweep(writer?: OwnedEntries): void {
    for (const [owner, entries] of owners) {
      entries.sweep();
      if (entries.isEmpty && entries !== writer) owners.delete(owner);
    }
  }
  /**
   * Has the entries of the owner with the most give way that end first.
   * @param writer who wants the room, and has so much of its own
   * @param keys not these
   */
  function makeRoom(writer: OwnedEntries, more: number, keys: ReadonlySet<string>): void {
    writer.giveWay(writer.bytes + more - bounds.maxBytes, keys);
    const sizeOf = (entries: OwnedEntries): number => entries.bytes + (entries === writer ? more : 0);
    const [most] = [...owners.values()].sort((one, other) => sizeOf(other) - sizeOf(one));
    most?.giveWay(total.bytes + more - bounds.maxTotalBytes, most === writer ? keys : new Set());
  }
  const entriesOf = (owner: string): OwnedEntries => {
    const entries = owners.get(owner) ?? new OwnedEntries(bounds, total, { sweep, makeRoom });
    owners.set(owner, entries);
    return entries;
  };
  const memories = (owner: string): OwnedMemory =>
    ownedMemory({
      put: async (entries) => entriesOf(owner).put(entries),
      load: async (key, offset, length) => owners.get(owner)?.load(key, offset, length),
      delete: async (key) => owners.get(owner)?.delete(key) ?? false,
      list: async (prefix) => owners.get(owner)?.list(prefix) ?? [],
    });

  const sweeping = setInterval(() => sweep(), SWEEP_MS).unref();
  return {
    of: memories,
    async [Symbol.asyncDispose]() {
      clearInterval(sweeping);
      owners.clear();
    },
  };
}

/** What concerns the entries of all owners. */
interface AllEntries {
  sweep(writer: OwnedEntries): void;
  makeRoom(writer: OwnedEntries, more: number, keys: ReadonlySet<string>): void;
}

/** The entries of one owner, by namespace and key. */
class OwnedEntries {
  readonly #limits: MemoryLimits;
  readonly #total: { bytes: number };
  readonly #all: AllEntries;
  readonly #namespaces = new Map<string, Map<string, Kept>>();
  #bytes = 0;

  constructor(limits: MemoryLimits, total: { bytes: number }, all: AllEntries) {
    this.#limits = limits;
    this.#total = total;
    this.#all = all;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#namespaces.size === 0;
  }

  put(entries: Parameters<EntryRecords["put"]>[0]): void {
    for (const { info, ifVersion } of entries) {
      const version = this.#live(info.key)?.info.version;
      if (ifVersion !== undefined && (ifVersion ?? undefined) !== version)
        throw new MemoryChangedError(info.key, version);
    }
    const kept = entries.map(({ info, value }) => ({ info, value, bytes: bytesOf(info, isNarrow(value)) }));
    if (this.#exceededBy(kept) !== undefined) this.#all.sweep(this); // before anything is said to be full
    const bytes = kept.reduce((sum, entry) => sum + entry.bytes, 0);
    const isOver = ["bytes", "total"].includes(this.#exceededBy(kept)?.kind ?? "");
    if (isOver && bytes <= this.#limits.maxBytes) this.#makeRoom(kept, bytes);
    const exceeded = this.#exceededBy(kept);
    if (exceeded !== undefined) {
      const keys = entries.map(({ info }) => info.key);
      throw memoryFullError(keys, exceeded.namespace, exceeded);
    }
    for (const entry of kept) {
      this.delete(entry.info.key);
      const namespace = namespaceOf(entry.info.key);
      const inNamespace = this.#namespaces.get(namespace) ?? new Map<string, Kept>();
      this.#namespaces.set(namespace, inNamespace);
      inNamespace.set(entry.info.key, entry);
      this.#count(entry.bytes);
    }
  }

  #makeRoom(kept: readonly Kept[], bytes: number): void {
    const replaced = kept.reduce((sum, { info }) => sum + (this.#live(info.key)?.bytes ?? 0), 0);
    this.#all.makeRoom(this, bytes - replaced, new Set(kept.map(({ info }) => info.key)));
  }

  /** Drops so many bytes, of the entries that end first, and none of these keys. */
  giveWay(bytes: number, keys: ReadonlySet<string>): void {
    if (bytes <= 0) return;
    const entries = [...this.#namespaces.values()]
      .flatMap((namespace) => [...namespace.values()])
      .filter(({ info }) => !keys.has(info.key));
    let left = bytes;
    for (const { info, bytes: own } of entries.sort((one, other) => one.info.expiresAt - other.info.expiresAt)) {
      if (left <= 0) return;
      this.delete(info.key);
      left -= own;
    }
  }

  load(key: string, offset: number, length: number): { info: MemoryEntryInfo; text: string } | undefined {
    const kept = this.#live(key);
    return kept === undefined ? undefined : { info: kept.info, text: kept.value.slice(offset, offset + length) };
  }

  delete(key: string): boolean {
    const namespace = namespaceOf(key);
    const inNamespace = this.#namespaces.get(namespace);
    const kept = inNamespace?.get(key);
    if (inNamespace === undefined || kept === undefined) return false;
    inNamespace.delete(key);
    if (inNamespace.size === 0) this.#namespaces.delete(namespace);
    this.#count(-kept.bytes);
    return kept.info.expiresAt > Date.now();
  }

  list(prefix: string): readonly MemoryEntryInfo[] {
    const now = Date.now();
    const found = this.#within(prefix).flatMap((entries) =>
      [...entries.values()].flatMap(({ info }) => (info.expiresAt > now && info.key.startsWith(prefix) ? [info] : [])),
    );
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** The namespaces that may have keys with this beginning: one, where it says which. */
  #within(prefix: string): readonly ReadonlyMap<string, Kept>[] {
    const namespace = namespaceOf(prefix);
    if (namespace !== prefix) return [this.#namespaces.get(namespace) ?? new Map()];
    return [...this.#namespaces].flatMap(([name, entries]) => (name.startsWith(prefix) ? [entries] : []));
  }

  sweep(): void {
    const now = Date.now();
    for (const entries of this.#namespaces.values()) {
      for (const { info } of entries.values()) if (info.expiresAt <= now) this.delete(info.key);
    }
  }

  #live(key: string): Kept | undefined {
    const kept = this.#namespaces.get(namespaceOf(key))?.get(key);
    return kept !== undefined && kept.info.expiresAt > Date.now() ? kept : undefined;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#total.bytes += bytes;
  }

  /** The first bound that would be exceeded with these entries in place of those under their keys. */
  #exceededBy(entries: readonly Kept[]): (ExceededBound & { readonly namespace: string }) | undefined {
    const { maxBytes, maxTotalBytes, maxEntries, maxChunks } = this.#limits;
    const added = Map.groupBy(entries, ({ info }) => namespaceOf(info.key));
    let more = 0;
    for (const [namespace, ofNamespace] of added) {
      const now = new Map([...(this.#namespaces.get(namespace)?.values() ?? [])].map((kept) => [kept.info.key, kept]));
      for (const entry of ofNamespace) {
        more += entry.bytes - (now.get(entry.info.key)?.bytes ?? 0);
        now.set(entry.info.key, entry);
      }
      const chunks = [...now.values()].filter(({ info }) => info.isChunk).length;
      if (chunks > maxChunks) return { kind: "chunks", max: maxChunks, namespace, nextEndMs: this.#nextEndMs() };
      if (now.size - chunks > maxEntries)
        return { kind: "entries", max: maxEntries, namespace, nextEndMs: this.#nextEndMs() };
    }
    const [namespace = ""] = added.keys();
    if (this.#bytes + more > maxBytes) return { kind: "bytes", max: maxBytes, namespace, nextEndMs: this.#nextEndMs() };
    if (this.#total.bytes + more > maxTotalBytes)
      return { kind: "total", max: maxTotalBytes, namespace, nextEndMs: undefined };
    return undefined;
  }

  #nextEndMs(): number | undefined {
    const ends = [...this.#namespaces.values()].flatMap((entries) =>
      [...entries.values()].map(({ info }) => info.expiresAt),
    );
    return ends.length === 0 ? undefined : Math.max(0, ends.reduce((first, end) => Math.min(first, end)) - Date.now());
  }
}
