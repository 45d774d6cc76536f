import { hash, randomBytes } from "node:crypto";
import { OldestFirstMap } from "@rockbot/base";
import { redact } from "@rockbot/base/redaction";
import { maskLikelySecrets } from "@rockbot/contracts";
import { maskNamedSecrets } from "./mask-named-secrets.ts";

/** How long texts of a call are kept, and how much of each. */
export interface KeepRule {
  readonly forMs: number;
  readonly bytes: number;
}

type KeptText = "arguments" | "result";

/** The texts of a call that are kept for operators, without secrets. */
export interface KeptTexts {
  readonly arguments?: string | undefined;
  /** The result, or the words of the error. */
  readonly result?: string | undefined;
  /** Names the texts that are cut off, and below those from which secrets are taken out. */
  readonly cut: readonly KeptText[];
  readonly redacted: readonly KeptText[];
  /** Unix milliseconds. */
  readonly until: number;
}

/** Stands for a text that is not shown. */
export interface TextDigest {
  /** The length of the text in UTF-8. */
  readonly bytes: number;
  /** Equal texts of one speaker have equal ones in the life of a process, and nobody can tell what a text was. */
  readonly hash?: string | undefined;
}

const KEY = randomBytes(16).toString("hex");
/** As many characters of a text count for its hash. */
const MAX_HASHED = 256 * 1024;

/**
 * The size of a text, and its hash for `speaker` if there is one, which is JSON. Each speaker has hashes of its own. So nobody finds
 * out a text of another one by calls with guesses.
 */
export const digestOf = (text: string, speaker: string | undefined): TextDigest => ({
  bytes: Buffer.byteLength(text),
  ...(speaker === undefined
    ? {}
    : { hash: hash("sha256", KEY + speaker + text.slice(0, MAX_HASHED), "hex").slice(0, 16) }),
});

/** A secret that begins before the cut is looked for in so many characters beyond it. */
const MARGIN = 8 * 1024;

/** The texts with another one, of which the beginning is kept, without secrets. */
export function withText(
  before: KeptTexts | undefined,
  name: KeptText,
  text: string,
  { bytes, until }: { readonly bytes: number; readonly until: number },
): KeptTexts {
  const begun = text.slice(0, bytes + MARGIN);
  const clean = redact(maskNamedSecrets(maskLikelySecrets(begun)));
  const isCut = Buffer.byteLength(clean) > bytes || begun.length < text.length;
  const kept = isCut
    ? Buffer.from(clean)
        .subarray(0, bytes)
        .toString()
        .replace(/\uFFFD+$/, "")
    : clean;
  const named = (names: readonly KeptText[] = [], is: boolean) => [
    ...names.filter((each) => each !== name),
    ...(is ? [name] : []),
  ];
  const { cut, redacted } = before ?? {};
  return { ...before, [name]: kept, cut: named(cut, isCut), redacted: named(redacted, clean !== begun), until };
}

/** Texts in this process's memory, all together. */
const MAX_BYTES = 32 * 1024 * 1024;
const SWEEP_MS = 60_000;

interface Entry {
  readonly owner: string;
  readonly texts: KeptTexts;
  readonly bytes: number;
  /** A store does not have it yet. */
  readonly isNew: boolean;
}

/** Keeps texts of calls in memory. Where they are too many, the effective caller that has most loses its oldest. */
export class KeptInMemory {
  readonly #of = new Map<string, OldestFirstMap<string, Entry>>();
  readonly #sizes = new Map<string, number>();
  readonly #owners = new Map<string, string>();
  readonly #now: () => number;
  readonly #maxBytes: number;
  #total = 0;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(now: () => number, maxBytes = MAX_BYTES) {
    this.#now = now;
    this.#maxBytes = maxBytes;
  }

  get(id: string): KeptTexts | undefined {
    const texts = this.#entry(id)?.texts;
    return texts !== undefined && texts.until > this.#now() ? texts : undefined;
  }

  set(id: string, owner: string, texts: KeptTexts): void {
    this.delete(id);
    this.#put(id, { owner, texts, bytes: sizeOf(texts), isNew: true });
    while (this.#total > this.#maxBytes) this.#deleteOldestOf(this.#largest());
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  /** What a store does not have yet. From then on it does. */
  takeNew(id: string): KeptTexts | undefined {
    const entry = this.#entry(id);
    if (!entry?.isNew) return undefined;
    this.#of.get(entry.owner)?.set(id, { ...entry, isNew: false });
    return this.get(id);
  }

  delete(id: string): void {
    const entry = this.#entry(id);
    if (entry === undefined) return;
    const of = this.#of.get(entry.owner);
    of?.delete(id);
    this.#owners.delete(id);
    this.#total -= entry.bytes;
    this.#sizes.set(entry.owner, (this.#sizes.get(entry.owner) ?? 0) - entry.bytes);
    if (of?.size !== 0) return;
    this.#of.delete(entry.owner);
    this.#sizes.delete(entry.owner);
  }

  close(): void {
    clearInterval(this.#sweeping);
  }

  #entry(id: string): Entry | undefined {
    const owner = this.#owners.get(id);
    return owner === undefined ? undefined : this.#of.get(owner)?.get(id);
  }

  #put(id: string, entry: Entry): void {
    const { owner, bytes } = entry;
    const of = this.#of.get(owner) ?? new OldestFirstMap<string, Entry>();
    this.#of.set(owner, of);
    of.set(id, entry);
    this.#owners.set(id, owner);
    this.#sizes.set(owner, (this.#sizes.get(owner) ?? 0) + bytes);
    this.#total += bytes;
  }

  #largest(): string {
    let [most, largest] = [-1, ""];
    for (const [owner, bytes] of this.#sizes) if (bytes > most) [most, largest] = [bytes, owner];
    return largest;
  }

  #deleteOldestOf(owner: string): void {
    const oldest = this.#of.get(owner)?.oldest;
    if (oldest !== undefined) this.delete(oldest.key);
  }

  #sweep(): void {
    const over = [...this.#owners.keys()].filter((id) => this.get(id) === undefined);
    for (const id of over) this.delete(id);
  }
}

/** What an entry takes besides its texts, about. */
const ENTRY_BYTES = 400;
const sizeOf = ({ arguments: args = "", result = "" }: KeptTexts): number =>
  ENTRY_BYTES + 2 * (args.length + result.length);
