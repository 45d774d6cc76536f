/** A store in Redis was asked for, and its client is not installed: a program that uses RockBot as a library brings the client by itself. */
export class RedisClientMissingError extends Error {
  override readonly name = "RedisClientMissingError";
}

/**
 * Of what an import of the client has thrown.
 * @param name the store that was to be opened
 */
export function orClientMissing(error: unknown, name: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes("'ioredis'")) return error;
  const text = `Cannot open the ${name} in Redis: the package ioredis is not installed. Install it beside rockbot: npm install ioredis@6`;
  return new RedisClientMissingError(text, { cause: error });
}
