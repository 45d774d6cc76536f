import { randomBytes } from "node:crypto";
import { type Container, startContainer } from "../machine/container.ts";
import { freePort } from "../machine/free-port.ts";
import { redisSettings } from "./redis-settings.ts";
import type { StartOwnRedisOptions, TestRedis } from "./test-redis.ts";
import { untilRedisAnswers } from "./until-redis-answers.ts";

export const REDIS_IMAGE = "redis:8";
const INSIDE_PORT = 6379;
const WITH_USERS = 'printf "%s" "$1" >/tmp/users.acl; shift; exec redis-server "$@" --aclfile /tmp/users.acl';

/** A Redis in a container, on a port of 127.0.0.1 that it keeps over restarts. */
export async function startContainerRedis(options: StartOwnRedisOptions): Promise<TestRedis> {
  const port = await freePort();
  const password = randomBytes(12).toString("hex");
  const users = await options.users?.(password);
  const start = (): Promise<Container> =>
    startContainer({
      image: REDIS_IMAGE,
      ports: [{ inside: INSIDE_PORT, outside: port }],
      // A Sentinel keeps what it knows in a file; it listens where a Redis would.
      command: options.isSentinel
        ? [
            "sh",
            "-c",
            `touch /tmp/sentinel.conf; exec redis-server /tmp/sentinel.conf --port ${INSIDE_PORT} "$@"`,
            "sh",
            ...redisSettings(password, options),
          ]
        : users === undefined
          ? ["redis-server", ...redisSettings(password, options)]
          : ["sh", "-c", WITH_USERS, "sh", users, ...redisSettings(password, options)],
      untilReady: (explain) => untilRedisAnswers(port, password, explain),
    });
  let container = await start();
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    directUrl: async () => `redis://:${password}@${await container.address()}:${INSIDE_PORT}`,
    kill: () => container.kill(),
    async restart({ empty = false } = {}) {
      if (!empty) return container.restart();
      await container[Symbol.asyncDispose]();
      container = await start();
    },
    pause: () => container.pause(),
    resume: () => container.resume(),
    ctl: (...args) => container.exec({ REDISCLI_AUTH: password }, "redis-cli", ...args),
    [Symbol.asyncDispose]: () => container[Symbol.asyncDispose](),
  };
}
