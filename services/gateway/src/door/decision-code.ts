import { createHash, randomInt, timingSafeEqual } from "node:crypto";
import { registerSecret } from "@rockbot/base/redaction";

/** Crockford's base32: no letters that look like digits. @see https://www.crockford.com/base32.html */
const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** 50 random bits. */
const LENGTH = 10;
const MAX_WRONG = 5;
const MINUTE_MS = 60_000;

/** Why a code is refused. */
export type CodeRefusal = "missing" | "wrong" | "locked" | "not-shown";

/**
 * What the user of `rockbot up` has read at its terminal, besides what programs of the same user can open: the socket
 * and the console. It lives in this process's memory, as a hash. Nothing is decided until it was shown.
 */
export class DecisionCode {
  readonly #clock: () => number;
  #digest: Buffer | undefined;
  /** When wrong codes came. */
  #wrong: readonly number[] = [];
  #lockedUntil = 0;

  /** @param clock Unix milliseconds */
  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
  }

  /** A code to show, such as `K7QF-2M9X-4T`. The one before is void. */
  show(): string {
    const letters = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join("");
    this.#digest = sha256(letters);
    const shown = letters.replaceAll(/(.{4})(?=.)/g, "$1-");
    registerSecret(letters);
    registerSecret(shown);
    return shown;
  }

  /** True once there is a code that somebody has read. */
  get isShown(): boolean {
    return this.#digest !== undefined;
  }

  /** @returns undefined for the right code. Each takes the same time; five wrong ones in a minute lock for a minute */
  refuse(code: string | undefined): CodeRefusal | undefined {
    if (this.#digest === undefined) return "not-shown";
    if (code === undefined) return "missing";
    const now = this.#clock();
    if (now < this.#lockedUntil) return "locked";
    if (timingSafeEqual(sha256(plain(code)), this.#digest)) return undefined;
    this.#wrong = [...this.#wrong.filter((at) => at > now - MINUTE_MS), now];
    if (this.#wrong.length >= MAX_WRONG) {
      this.#lockedUntil = now + MINUTE_MS;
      this.#wrong = [];
    }
    return "wrong";
  }
}

/** A code as people type it: in any case, with or without dashes, with letters for the digits that they look like. */
const plain = (code: string): string =>
  code.toUpperCase().replaceAll(/[\s-]/g, "").replaceAll("O", "0").replaceAll(/[IL]/g, "1");

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
