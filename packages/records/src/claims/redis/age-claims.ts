import { silentLogger } from "@rockbot/bus";
import { parseRedisAddress, RedisConnection } from "../../redis/index.ts";
import { connectRedisClaimStore } from "./redis-claim-store.ts";

const DAY_MS = 24 * 3_600_000;

/**
 * For tests: makes a store of claims in Redis one that has forgotten nothing for a day, as one that is in use mostly
 * is.
 */
export async function ageClaims(url: string, prefix: string): Promise<void> {
  await using _store = await connectRedisClaimStore(url, { prefix }); // notes since when it is there
  const options = { log: silentLogger, purpose: "ageing claims", whileAway: "no test runs", scripts: {} };
  const redis = new RedisConnection(parseRedisAddress(url), options);
  await redis.start(2_000);
  try {
    await redis.run("age claims", (client) => client.hset(`${prefix}:{claims}:born`, "at", Date.now() - DAY_MS));
  } finally {
    await redis.close();
  }
}
