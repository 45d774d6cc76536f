// The turns and the working memory of agents in Redis, shared by all processes. Install ioredis beside.
export { connectRedisTurnStore, type RedisTurnStoreOptions } from "@rockbot/agent/redis";
export { connectRedisWorkingMemory } from "@rockbot/memory/redis";
