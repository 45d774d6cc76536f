import type { StoredCall, StoredResult } from "../store/turn-store.ts";
import { fence } from "./fence.ts";

/** A result as the model reads it: untrusted content is fenced, and a repair of the call is said. */
export function resultText(
  { repair }: Pick<StoredCall, "repair">,
  { content, isUntrusted, origin }: StoredResult,
  nonce: string,
): string {
  const fenced = isUntrusted ? fence(content, { nonce, origin }) : content;
  return repair === undefined ? fenced : `[Note: ${repair}]\n${fenced}`;
}
