import { openFileTrustStore } from "./file-trust-store.ts";
import { createMemoryTrustStore } from "./memory-trust-store.ts";
import type { TrustStore } from "./trust-store.ts";

/** Where a service keeps what is approved. */
export interface Trust {
  readonly store: TrustStore;
  /** Holds pins that count as well, and is only read: the operator's file beside a shared store. */
  readonly filed?: Pick<TrustStore, "read"> | undefined;
}

export interface OpenTrustOptions {
  /** The store of all instances, which stays its owner's. */
  readonly shared: TrustStore | undefined;
  /** The operator's file of pins. */
  readonly lockFile: string | undefined;
  /** Called if what is approved lies in this process's memory, and is lost with it. */
  readonly onMemory: () => void;
}

/** Opens the shared store, or else the operator's file, or else the memory of this process. */
export function openTrust({ shared, lockFile, onMemory }: OpenTrustOptions): Trust & AsyncDisposable {
  const file = lockFile === undefined ? undefined : openFileTrustStore(lockFile);
  const store = shared ?? file ?? createMemoryTrustStore();
  if (store.where === "memory") onMemory();
  return {
    store,
    filed: shared === undefined ? undefined : file,
    [Symbol.asyncDispose]: async () => {
      if (store !== shared) await store[Symbol.asyncDispose]();
    },
  };
}
