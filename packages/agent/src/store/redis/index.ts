export { connectRedisTurnStore, type RedisTurnStoreOptions } from "./redis-turn-store.ts";
