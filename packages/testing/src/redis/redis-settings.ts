import type { StartOwnRedisOptions } from "./test-redis.ts";

/**
 * The settings on the command line of a Redis for tests. Nothing is saved but by the append-only file, or when a test
 * asks.
 */
export function redisSettings(
  password: string,
  { appendonly = true, keyLoadDelayUs = 0, isSentinel = false }: StartOwnRedisOptions,
): string[] {
  if (isSentinel) return ["--sentinel", "--requirepass", password];
  return [
    "--requirepass",
    password,
    "--appendonly",
    appendonly ? "yes" : "no",
    "--save",
    "",
    "--key-load-delay",
    String(keyLoadDelayUs),
  ];
}
