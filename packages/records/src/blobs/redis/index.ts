export { connectRedisBlobStore, type RedisBlobStoreOptions } from "./redis-blob-store.ts";
