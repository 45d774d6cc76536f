import type { Measurable } from "../machine/measurable.ts";

/** A Redis of one's own: what happens to it happens to nobody else. Disposal ends it and removes its data. */
export interface TestRedis extends Measurable, AsyncDisposable {
  /** The address with the password. Stays the same over restarts. */
  readonly url: string;
  /** SIGKILL: no goodbye to clients, nothing saved on the way out. */
  kill(): Promise<void>;
  /** After `kill`: starts it again on the same port, with what it has saved, or empty; resolves once it answers. */
  restart(options?: { readonly empty?: boolean | undefined }): Promise<void>;
  /** Stops it in its tracks: connections stay open and nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Runs `redis-cli`. @returns its output */
  ctl(...args: string[]): Promise<string>;
}

export interface StartOwnRedisOptions {
  /** True to write each change to disk, so that a kill loses no data. @default true */
  readonly appendonly?: boolean | undefined;
  /** How long it takes for each key when it reads its data, in microseconds. @default 0 */
  readonly keyLoadDelayUs?: number | undefined;
  /** True for a Sentinel, which has nobody to watch yet. @default false */
  readonly isSentinel?: boolean | undefined;
  /**
   * Its file of users, where it is to have one: `default` has the password there.
   * @default everything is allowed to `default`, and there is nobody else
   */
  readonly users?: ((password: string) => Promise<string>) | undefined;
}
