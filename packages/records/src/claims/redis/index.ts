export { connectRedisClaimStore } from "./redis-claim-store.ts";
