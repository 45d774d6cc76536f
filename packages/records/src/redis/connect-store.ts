import type { Logger } from "@rockbot/bus";

/** How any store in Redis is connected. */
export interface RedisStoreOptions {
  readonly log?: Logger | undefined;
  /** Begins the names of all keys: processes see each other's records if theirs is the same. @default "rockbot" */
  readonly prefix?: string | undefined;
  /** How long to wait for the first connection before going on without. @default 2_000 */
  readonly connectTimeoutMs?: number | undefined;
  /** Certificates to trust for `rediss:` instead of those that Node trusts, in PEM. */
  readonly ca?: string | undefined;
}

/** Starts a store; one that cannot start is disposed of. @throws what its start throws */
export async function connectStore<Store extends AsyncDisposable & { start(timeoutMs: number): Promise<void> }>(
  store: Store,
  { connectTimeoutMs = 2_000 }: RedisStoreOptions,
): Promise<Store> {
  try {
    await store.start(connectTimeoutMs);
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
  return store;
}
