import type { ClaimKey } from "./claim-store.ts";

/**
 * A key as one text, which keeps the two parts apart whatever characters are in them. Where halves of surrogate pairs
 * are among them it is JSON, which writes them so that they outlive UTF-8.
 */
export function claimKeyText({ caller, toolCallId }: ClaimKey): string {
  return caller.isWellFormed() && toolCallId.isWellFormed()
    ? `${caller.length}:${caller}:${toolCallId}`
    : JSON.stringify([caller, toolCallId]);
}
