export { connectRedisLeaseStore } from "./redis-lease-store.ts";
