export { connectRedisPageStore, type RedisPageStoreOptions } from "./redis-page-store.ts";
