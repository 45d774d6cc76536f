// The turns and the working memory of agents in Redis, and sentences about services, shared by all processes. Install
// ioredis beside.
export { connectRedisTurnStore, type RedisTurnStoreOptions } from "@rockbot/agent/redis";
export { connectRedisWorkingMemory } from "@rockbot/memory/redis";
export { connectRedisSummaryStore } from "@rockbot/search/redis";
