import { createHash, timingSafeEqual } from "node:crypto";

/** The token in an Authorization header; undefined if there is none. */
export const bearerOf = (authorization: string | undefined): string | undefined => /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? "")?.[1];

/** Tells a token from all others, in the same time whatever comes. */
export function createTokenCheck(token: string): (presented: string) => boolean {
  const expected = sha256(token);
  return (presented) => timingSafeEqual(sha256(presented), expected); // hashes have one length
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
