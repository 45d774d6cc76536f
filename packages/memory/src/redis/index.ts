export { connectRedisWorkingMemory, type RedisWorkingMemoryOptions } from "./redis-working-memory.ts";
