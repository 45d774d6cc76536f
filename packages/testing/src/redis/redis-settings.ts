import type { StartOwnRedisOptions } from "./test-redis.ts";

/** What a Redis for tests is told on its command line. Nothing is saved but by the append-only file, or when a test asks. */
export function redisSettings(password: string, { appendonly = true }: StartOwnRedisOptions): string[] {
  return ["--requirepass", password, "--appendonly", appendonly ? "yes" : "no", "--save", ""];
}
