export { parseRedisAddress, type RedisAddress, type RedisUrl } from "../redis-address.ts";
export { connectStore, type RedisStoreOptions } from "./connect-store.ts";
export { leaseCommands } from "./lease-commands.ts";
export { RedisConnection, type RedisConnectionOptions } from "./redis-connection.ts";
export { RedisRoom, type Share } from "./redis-room.ts";
export type { ServerFacts } from "./server-facts.ts";
export { WrittenBytes } from "./written-bytes.ts";
