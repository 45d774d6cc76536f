import { offerSharedServer, type SharedServer, sharedServerUrl } from "../machine/servers/shared-server.ts";
import { startOwnRedis } from "./start-own-redis.ts";
import type { TestRedis } from "./test-redis.ts";

const redis: SharedServer<TestRedis> = {
  name: "Redis",
  urlVariable: "ROCKBOT_TEST_REDIS_URL",
  askAtVariable: "ROCKBOT_TEST_REDIS_ASK_AT",
  start: startOwnRedis,
};

/** Offers one Redis, with an append-only file, to all tests of a run: see offerSharedServer. */
export const offerSharedRedis = (): Promise<AsyncDisposable> => offerSharedServer(redis);

/**
 * The address of a Redis that tests share: `ROCKBOT_TEST_REDIS_URL`, or the one of this run. Tests must not harm it,
 * and use keys of their own. Await it at the top of a test file: the first to ask waits until the server has started.
 * @throws {Error} that says in one line what to do, if no Redis can be found or started
 */
export const sharedRedisUrl = (): Promise<string> => sharedServerUrl(redis);
