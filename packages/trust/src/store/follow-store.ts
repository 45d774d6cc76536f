import { startLoop } from "@rockbot/base";
import { StoreUnavailableError } from "@rockbot/records";
import type { TrustStore } from "./trust-store.ts";

const LOOK_EVERY_MS = 1_000;

export interface FollowStoreOptions {
  /** Takes in what has changed. */
  readonly onChange: () => Promise<void>;
  /** True to do so without a change, as it could not be read before. */
  readonly isBehind: () => boolean;
}

/**
 * Takes in, each second, what others have written to the store since: other instances, operators. A store that is away
 * is looked for again.
 */
export function followStore(store: TrustStore, { onChange, isBehind }: FollowStoreOptions): AsyncDisposable {
  let seen: string | undefined;
  return startLoop(LOOK_EVERY_MS, async () => {
    try {
      const revision = await store.revision();
      if (revision === seen && !isBehind()) return;
      await onChange();
      seen = revision;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error; // the store has logged it
    }
  });
}
