// The interface, and what it promises.

export { claimKeyText } from "./claim-key-text.ts";
export {
  type Claim,
  type ClaimKey,
  type ClaimOptions,
  type ClaimOutcome,
  type ClaimStore,
  type ClaimView,
  MAX_REPLY_BYTES,
  RECORD_KEPT_MS,
  REPLY_KEPT_MS,
} from "./claim-store.ts";

// Claims in one process. Those that processes share come from ./redis, so that only who wants them loads its client.
export { createMemoryClaimStore, type MemoryClaimStoreOptions } from "./memory-claim-store.ts";
