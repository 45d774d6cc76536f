/**
 * A program asked for a store in Redis, and the client is not installed. A program that uses RockBot as a library
 * installs the client itself.
 */
export class RedisClientMissingError extends Error {
  override readonly name = "RedisClientMissingError";
}

/**
 * Turns the error of a failed import of the client into words.
 * @param name the store that was to be opened
 */
export function orClientMissing(error: unknown, name: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes("'ioredis'")) return error;
  const text = `Cannot open the ${name} in Redis: the package ioredis is not installed. Install it beside rockbot: npm install ioredis@6`;
  return new RedisClientMissingError(text, { cause: error });
}
