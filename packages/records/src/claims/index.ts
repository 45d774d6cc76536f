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

// Claims in one process. Claims that processes share come from ./redis, so that only their users load the client.

export { createMemoryClaimStore, type MemoryClaimStoreOptions } from "./memory/memory-claim-store.ts";
