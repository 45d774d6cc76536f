export { connectRedisRateStore } from "./redis-rate-store.ts";
