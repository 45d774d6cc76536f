import type { ClaimKey } from "./claim-store.ts";

/** A key as one text. JSON, since it keeps the two parts apart whatever characters are in them, halves of surrogate pairs included. */
export function claimKeyText({ caller, toolCallId }: ClaimKey): string {
  return JSON.stringify([caller, toolCallId]);
}
