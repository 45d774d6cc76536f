import { randomBytes } from "node:crypto";
import { DEFAULT_TTL_MS, ENTRY_BYTES, MAX_KEY_LENGTH, MAX_TTL_MS, MAX_VALUE_LENGTH } from "./memory-limits.ts";
import type { KeepOptions, MemoryEntryInfo } from "./working-memory.ts";

/** The namespace of a key: its first two segments. */
export function namespaceOf(key: string): string {
  const second = key.indexOf("/", key.indexOf("/") + 1);
  return second === -1 ? key : key.slice(0, second);
}

/** @throws {RangeError} if no entry can have this key */
export function checkKey(key: string): void {
  if (key.length >= 1 && key.length <= MAX_KEY_LENGTH && !/\p{Cc}/u.test(key) && key.isWellFormed()) return;
  throw new RangeError(
    `Cannot use ${JSON.stringify(key.slice(0, 80))} as a key: expected 1 to ${MAX_KEY_LENGTH} characters without control characters`,
  );
}

/** The facts of an entry that is about to be kept. @throws {RangeError} for what is beyond a bound, all at once */
export function entryInfo(key: string, value: string, options: KeepOptions, now: number): MemoryEntryInfo {
  const {
    ttlMs = DEFAULT_TTL_MS,
    category,
    tags = [],
    isUntrusted = false,
    isApproved = false,
    origin,
    isChunk = false,
  } = options;
  checkKey(key);
  const faults = [
    ...(value.length > MAX_VALUE_LENGTH ? [`it has ${value.length} characters, and may have ${MAX_VALUE_LENGTH}`] : []),
    ...(ttlMs >= 1 && ttlMs <= MAX_TTL_MS ? [] : [`its time must be from 1 ms to 24 hours, got ${ttlMs} ms`]),
    ...((category?.length ?? 0) > 64 ? ["its category may have 64 characters"] : []),
    ...(tags.length > 20 || tags.some((tag) => tag.length > 64) ? ["it may have 20 tags of 64 characters"] : []),
    ...((origin?.length ?? 0) > 2048 ? ["its origin may have 2048 characters"] : []),
  ];
  if (faults.length > 0) throw new RangeError(`Cannot keep "${key}": ${faults.join("; ")}`);
  return {
    key,
    version: randomBytes(8).toString("hex"),
    length: value.length,
    storedAt: now,
    expiresAt: now + Math.ceil(ttlMs),
    ...(category === undefined || category === "" ? {} : { category }),
    tags,
    isUntrusted,
    ...(isApproved ? { isApproved } : {}),
    ...(origin === undefined ? {} : { origin }),
    isChunk,
  };
}

/** Tells whether each character of a text fits in one byte, as in a JavaScript engine; others take two. */
export const isNarrow = (text: string): boolean => !/[^\0-\xff]/.test(text);

/** How much of its owner's bytes an entry takes. */
export const bytesOf = (
  { key, length }: { readonly key: string; readonly length: number },
  isNarrowText: boolean,
): number => length * (isNarrowText ? 1 : 2) + key.length + ENTRY_BYTES;
