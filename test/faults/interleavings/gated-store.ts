import { StoreUnavailableError } from "@rockbot/records";
import type { Claim, ClaimKey, ClaimOptions, ClaimOutcome, ClaimStore } from "@rockbot/records/claims";

export interface GatedStoreOptions {
  /** Lets each operation through when its turn is. */
  readonly pass: <T>(operation: string, work: () => Promise<T>) => Promise<T>;
  /** Called with what an operation came to. */
  readonly onDone: (operation: string, outcome: ClaimOutcome | string | boolean) => void;
}

/**
 * One process's way to the store of that time: each operation waits for its turn, and leases are not renewed in time.
 */
export function gatedStore(store: () => ClaimStore, { pass, onDone }: GatedStoreOptions): ClaimStore {
  const at = <T extends ClaimOutcome | string | boolean>(operation: string, work: () => Promise<T>): Promise<T> =>
    pass(operation, async () => {
      const outcome = await work();
      onDone(operation, outcome);
      return outcome;
    });
  return {
    claim: (key: ClaimKey, options: ClaimOptions) => at("claim", () => store().claim(key, options)),
    complete: (claim: Claim, reply: Uint8Array) => at("complete", () => store().complete(claim, reply)),
    release: (claim: Claim) => at("release", () => store().release(claim)),
    cancel: (key: ClaimKey) => at("cancel", () => store().cancel(key)),
    look: (key: ClaimKey) => store().look(key),
    renew: () => Promise.reject(new StoreUnavailableError("Cannot renew a claim: the owner stands still")),
    async [Symbol.asyncDispose]() {}, // the store is the world's
  };
}
