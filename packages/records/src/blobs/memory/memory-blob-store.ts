import {
  type BlobKind,
  type BlobLimits,
  type BlobStore,
  blobDamaged,
  blobMissing,
  blobsFull,
  checkBlobLength,
  MAX_BLOBS_BYTES,
  RESULTS,
} from "../blob-store.ts";

interface Blob {
  readonly bytes: Uint8Array;
  readonly counted: number;
  readonly owner: string;
  readonly timer: NodeJS.Timeout;
  readonly at: number;
}

/** The bounds of a blob store in this process, and its clock. */
export interface MemoryBlobStoreOptions extends Partial<BlobLimits> {
  /** @default results */
  readonly kind?: BlobKind | undefined;
  /** Milliseconds that never step back. @default performance.now */
  readonly clock?: (() => number) | undefined;
}

/** A blob store for services and callers of one process, which ends with it. */
export function createMemoryBlobStore({
  kind = RESULTS,
  clock = () => performance.now(),
  maxBytesPerOwner = kind.maxBytesPerOwner,
  maxBytes = MAX_BLOBS_BYTES,
}: MemoryBlobStoreOptions = {}): BlobStore {
  const blobs = new Map<string, Blob>();
  const owned = new Map<string, number>();
  let total = 0;

  function count(owner: string, bytes: number): void {
    total += bytes;
    const left = (owned.get(owner) ?? 0) + bytes;
    if (left > 0) owned.set(owner, left);
    else owned.delete(owner);
  }
  function remove(name: string): void {
    const blob = blobs.get(name);
    if (blob === undefined) return;
    clearTimeout(blob.timer);
    blobs.delete(name);
    count(blob.owner, -blob.counted);
  }
  /** The oldest go first. */
  function giveWay(owner: string, isOver: () => boolean): void {
    for (const [name, blob] of blobs)
      if (isOver() && blob.owner === owner && clock() - blob.at >= kind.idleMs) remove(name);
  }
  return {
    async put(name, bytes, { owner, ttlMs }) {
      const length = Math.max(bytes.byteLength, kind.countsAtLeast);
      checkBlobLength(length, kind);
      if (blobs.has(name)) return;
      const isOwnerOver = (): boolean => (owned.get(owner) ?? 0) + length > maxBytesPerOwner;
      giveWay(owner, isOwnerOver);
      if (isOwnerOver()) throw blobsFull(length, maxBytesPerOwner, kind);
      const [[most] = [owner]] = [...owned].sort(([, one], [, other]) => other - one);
      giveWay(most, () => total + length > maxBytes);
      if (total + length > maxBytes) throw blobsFull(length, maxBytes, kind);
      const timer = setTimeout(() => remove(name), Math.min(Math.max(1, ttlMs), kind.maxTtlMs)).unref();
      blobs.set(name, { bytes, counted: length, owner, timer, at: clock() });
      count(owner, length);
    },
    async get(name, length) {
      const blob = blobs.get(name);
      if (blob === undefined) throw blobMissing();
      if (blob.bytes.byteLength !== length) throw blobDamaged();
      return blob.bytes;
    },
    async delete(name) {
      remove(name);
    },
    async [Symbol.asyncDispose]() {
      for (const name of [...blobs.keys()]) remove(name);
    },
  };
}
