import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** How long a code holds. */
export const CODE_MS = 5 * 60_000;
/** Codes that hold at once: a further one takes the place of the oldest. */
const MAX_CODES = 8;
const CODE_BYTES = 16;

/** Codes that open the console, each once. They live in this process's memory alone, as hashes. */
export class LoginCodes {
  readonly #clock: () => number;
  #codes: readonly { readonly digest: Buffer; readonly endsAt: number }[] = [];

  /** @param clock Unix milliseconds */
  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
  }

  /** A new code of 128 random bits. */
  create(): string {
    const code = randomBytes(CODE_BYTES).toString("base64url");
    const added = { digest: sha256(code), endsAt: this.#clock() + CODE_MS };
    this.#codes = [...this.#codes.slice(1 - MAX_CODES), added];
    return code;
  }

  /** Tells whether the code is valid, and ends it. Takes the same time whatever the code is. */
  take(code: string): boolean {
    const digest = sha256(code);
    const now = this.#clock();
    let isFound = false;
    this.#codes = this.#codes.filter((candidate) => {
      const isThis = timingSafeEqual(candidate.digest, digest); // to the end, found or not
      if (isThis && now < candidate.endsAt) isFound = true;
      return !isThis && now < candidate.endsAt;
    });
    return isFound;
  }
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
