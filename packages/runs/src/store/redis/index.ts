export { connectRedisRunStore } from "./redis-run-store.ts";
