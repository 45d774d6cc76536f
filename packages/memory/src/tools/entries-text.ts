import { type ContentTrust, definedBy, trustOfAll } from "@rockbot/contracts";
import type { MemoryEntryInfo } from "../working-memory.ts";

/**
 * A line of a list of entries: `- session/a/notes (1 200 characters, expires in 4m59s, category: research, tags: shop,
 * hours)`.
 */
export function entryLine({ key, length, expiresAt, category, tags }: MemoryEntryInfo): string {
  const facts = [
    `${length} characters`,
    `expires in ${spanText(expiresAt - Date.now())}`,
    ...(category === undefined ? [] : [`category: ${category}`]),
    ...(tags.length === 0 ? [] : [`tags: ${tags.join(", ")}`]),
  ];
  return `- ${key} (${facts.join(", ")})`;
}

/** An entry as a value. */
export function entryValue({ key, length, expiresAt, category, tags }: MemoryEntryInfo) {
  return {
    key,
    length,
    expires_in_seconds: secondsIn(expiresAt - Date.now()),
    ...(category === undefined ? {} : { category }),
    ...(tags.length === 0 ? {} : { tags: [...tags] }),
  };
}

/** As many of the lines as fit in so many characters, which one always does in part. */
export function fittingLines(lines: readonly string[], maxChars: number): readonly string[] {
  let left = maxChars;
  const fitting = lines.findIndex((line) => {
    left -= line.length + 1;
    return left < 0;
  });
  if (fitting === 0) return [(lines[0] ?? "").slice(0, maxChars).toWellFormed()];
  return fitting === -1 ? lines : lines.slice(0, fitting);
}

/** What is to be said of a result that shows these entries. */
export function trustOf(entries: readonly MemoryEntryInfo[]): { readonly trust?: ContentTrust | undefined } {
  const all = entries.map(({ isUntrusted, isApproved = false, origin, key }) =>
    isUntrusted ? definedBy(origin ?? key, isApproved) : undefined,
  );
  return { trust: trustOfAll(all) };
}

/** A text of tags as models write it: separated by commas. */
export const tagsIn = (text: string | undefined): string[] =>
  [...new Set((text ?? "").split(",").map((tag) => tag.trim()))].filter((tag) => tag !== "");

const secondsIn = (ms: number): number => Math.max(0, Math.ceil(ms / 1000));

function spanText(ms: number): string {
  const seconds = secondsIn(ms);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`;
}
