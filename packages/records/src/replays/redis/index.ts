export { connectRedisReplayStore, type RedisReplayStoreOptions } from "./redis-replay-store.ts";
