import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { OldestFirstMap } from "@rockbot/base";

/** A session of the console, as its cookie and its value open it together. */
export interface ConsoleSession {
  /** The token of the operator whose session it is. */
  readonly token: string;
  /** Unix milliseconds. */
  readonly endsAt: number;
  /** Tells it from all others. */
  readonly id: string;
}

/** How long a session lasts. */
export const SESSION_MS = 12 * 3_600_000;
/** Longer tokens do not fit into a cookie. */
export const MAX_TOKEN_CHARACTERS = 1_024;
/** Sessions whose logout is remembered. */
const MAX_ENDED = 10_000;
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSE = "rockbot console session 1";

/**
 * Sessions that no server keeps. The cookie is the operator's token, sealed under a key that only the page's value
 * gives, and the value is in no cookie. So any gateway opens a session of any other, neither half opens anything alone,
 * and a token that no longer holds ends its sessions. Only the gateway that took a logout remembers it.
 */
export class ConsoleSessions {
  readonly #clock: () => number;
  /** By id: when each would have ended by itself. */
  readonly #ended = new OldestFirstMap<string, number>();

  /** @param clock Unix milliseconds */
  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
  }

  begin(token: string): { readonly cookie: string; readonly value: string; readonly endsAt: number } {
    const value = randomBytes(32);
    const nonce = randomBytes(NONCE_BYTES);
    const issuedAt = this.#clock();
    const cipher = createCipheriv(CIPHER, keyOf(value), nonce);
    const sealed = [nonce, cipher.update(JSON.stringify({ token, issuedAt })), cipher.final(), cipher.getAuthTag()];
    return {
      cookie: Buffer.concat(sealed).toString("base64url"),
      value: value.toString("base64url"),
      endsAt: issuedAt + SESSION_MS,
    };
  }

  /** @returns undefined if the two do not belong together, or the session has ended */
  open(cookie: string, value: string): ConsoleSession | undefined {
    const opened = unseal(Buffer.from(cookie, "base64url"), Buffer.from(value, "base64url"));
    if (opened === undefined) return undefined;
    const { token, issuedAt, id } = opened;
    const endsAt = issuedAt + SESSION_MS;
    return this.#clock() >= endsAt || this.#ended.has(id) ? undefined : { token, endsAt, id };
  }

  /** From now on this gateway does not open it. */
  end({ id, endsAt }: ConsoleSession): void {
    const now = this.#clock();
    this.#ended.set(id, endsAt);
    this.#ended.deleteOldestWhile((end) => end <= now || this.#ended.size > MAX_ENDED);
  }
}

const keyOf = (value: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", value, new Uint8Array(), PURPOSE, 32));

function unseal(cookie: Buffer, value: Buffer) {
  if (value.length !== 32 || cookie.length <= NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = cookie.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, keyOf(value), nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(cookie.subarray(-TAG_BYTES));
  try {
    const text = Buffer.concat([decipher.update(cookie.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    const sealed = JSON.parse(text.toString()) as { readonly token: string; readonly issuedAt: number };
    return { ...sealed, id: nonce.toString("base64url") };
  } catch {
    return undefined; // made under another key, or changed since
  }
}
