import { hash, timingSafeEqual } from "node:crypto";

/** The token in an Authorization header; undefined if there is none. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? "")?.[1];

/** Tells the token of now from all others, in the same time whatever comes. While there is none, it is no text. */
export function createTokenCheck(token: () => string | undefined): (presented: string) => boolean {
  return (presented) => {
    const expected = token();
    return expected !== undefined && timingSafeEqual(sha256(presented), sha256(expected)); // hashes have one length
  };
}

const sha256 = (text: string): Buffer => hash("sha256", text, "buffer");
