export {
  BlobError,
  type BlobLimits,
  type BlobStore,
  blobDamaged,
  FILE_PIECES,
  MAX_BLOB_TTL_MS,
  type PutBlobOptions,
} from "./blob-store.ts";
export { createMemoryBlobStore } from "./memory/memory-blob-store.ts";
