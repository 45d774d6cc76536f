export { type ConnectRedisClaimStoreOptions, connectRedisClaimStore } from "./redis-claim-store.ts";
