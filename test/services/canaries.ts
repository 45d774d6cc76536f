import { randomBytes } from "node:crypto";

/**
 * A secret planted somewhere. Its `mark` stands in each of its forms but base64: nothing encodes letters and digits.
 */
export interface Canary {
  readonly mark: string;
  /** With characters that URLs, JSON and base64url write differently. */
  readonly secret: string;
  /** The same as a part of a URL. */
  readonly inUrl: string;
}

export function canary(name: string): Canary {
  const mark = `canary${name}${randomBytes(6).toString("hex")}`;
  const secret = `"/+${mark}%&>`;
  return { mark, secret, inUrl: encodeURIComponent(secret) };
}

const BASE64_CHARACTERS_OF_A_GROUP = 4;

/** The marks that can be read in the text: as they are, or in any run of base64 or base64url, wherever it begins. */
export function marksIn(text: string, canaries: readonly Canary[]): string[] {
  const found = new Set<string>();
  const look = (it: string): void => {
    for (const { mark } of canaries) if (it.includes(mark)) found.add(mark);
  };
  look(text);
  for (const [run] of text.matchAll(/[\w+/-]{12,}/g)) {
    for (let skip = 0; skip < BASE64_CHARACTERS_OF_A_GROUP; skip++)
      look(Buffer.from(run.slice(skip), "base64").toString("latin1"));
  }
  return [...found];
}
