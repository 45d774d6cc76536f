export {
  type Claim,
  type ClaimKey,
  type ClaimOptions,
  type ClaimOutcome,
  type ClaimStore,
  ClaimStoreUnavailableError,
  type ClaimView,
  MAX_REPLY_BYTES,
  RECORD_KEPT_MS,
  REPLY_KEPT_MS,
} from "./claim-store.ts";
