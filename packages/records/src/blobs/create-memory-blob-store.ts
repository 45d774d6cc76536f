import { type BlobLimits, type BlobStore, blobDamaged, blobMissing, blobsFull, checkBlobLength, DEFAULT_BLOB_LIMITS, MAX_BLOB_TTL_MS } from "./blob-store.ts";

interface Blob {
  readonly bytes: Uint8Array;
  readonly owner: string;
  readonly timer: NodeJS.Timeout;
}

/** A blob store for services and callers of one process, which ends with it. */
export function createMemoryBlobStore(limits: Partial<BlobLimits> = {}): BlobStore {
  const { maxBytesPerOwner, maxBytes } = { ...DEFAULT_BLOB_LIMITS, ...limits };
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
    count(blob.owner, -blob.bytes.byteLength);
  }
  return {
    async put(name, bytes, { owner, ttlMs }) {
      const length = bytes.byteLength;
      checkBlobLength(length);
      if (blobs.has(name)) return;
      if ((owned.get(owner) ?? 0) + length > maxBytesPerOwner) throw blobsFull(length, maxBytesPerOwner);
      if (total + length > maxBytes) throw blobsFull(length, maxBytes);
      const timer = setTimeout(() => remove(name), Math.min(Math.max(1, ttlMs), MAX_BLOB_TTL_MS)).unref();
      blobs.set(name, { bytes, owner, timer });
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
