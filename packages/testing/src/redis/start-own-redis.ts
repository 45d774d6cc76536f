import { decideServerKind, type ServerKind } from "../machine/servers/server-kind.ts";
import { REDIS_IMAGE, startContainerRedis } from "./container-redis.ts";
import { LOCAL_REDIS, startLocalRedis } from "./local-redis.ts";
import type { StartOwnRedisOptions, TestRedis } from "./test-redis.ts";

let decided: Promise<ServerKind> | undefined;

/** Starts a Redis of the kind that this machine offers; `ROCKBOT_TEST_REDIS` (`container` or `local`) forces a kind. */
export async function startOwnRedis(options: StartOwnRedisOptions = {}): Promise<TestRedis> {
  decided ??= decideServerKind({
    name: "Redis",
    image: REDIS_IMAGE,
    program: LOCAL_REDIS,
    debianPackage: "redis-server",
    kindVariable: "ROCKBOT_TEST_REDIS",
    urlVariable: "ROCKBOT_TEST_REDIS_URL",
  });
  return (await decided) === "container" ? startContainerRedis(options) : startLocalRedis(options);
}
