import { createHash } from "node:crypto";
import { canonicalJson } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { MAX_RECORD_LENGTH, type TrustRecord } from "./trust-store.ts";

/** A record as every store keeps it. @throws {StoreUnavailableError} if it is too long to keep */
export function textOf(name: string, value: unknown): string {
  const text = canonicalJson(value);
  if (text.length > MAX_RECORD_LENGTH)
    throw new StoreUnavailableError(
      `Cannot write the record "${name}": it has more than ${MAX_RECORD_LENGTH} characters`,
    );
  return text;
}

/**
 * The version of a record's text, by SHA-1, which Redis's scripts have at hand. It tells versions apart, it proves
 * nothing.
 */
export const versionOf = (text: string): string => createHash("sha1").update(text).digest("hex");

/** @throws {StoreUnavailableError} if the text is not JSON */
export function recordOf(name: string, text: string | undefined): TrustRecord {
  if (text === undefined) return { value: undefined, version: undefined };
  try {
    return { value: JSON.parse(text), version: versionOf(text) };
  } catch {
    throw new StoreUnavailableError(`Cannot read the record "${name}": it is damaged`);
  }
}

export const sizesOf = (texts: ReadonlyMap<string, string>): ReadonlyMap<string, number> =>
  new Map([...texts].map(([name, text]) => [name, Buffer.byteLength(text)]));
