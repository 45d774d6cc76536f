import { metrics } from "@opentelemetry/api";
import { RecentMap, within } from "@rockbot/base";

/** Makes of each text a vector; texts of like meaning get vectors of like direction. */
export type Embed = (texts: readonly string[]) => Promise<readonly ArrayLike<number>[]>;

/** A text with what it stands for. */
export interface MeantText<T> {
  readonly item: T;
  readonly text: string;
}

const BATCH = 64;
const MAX_KEPT = 20_000;
/** A question waits so long for its vector, and is answered without after that. */
const QUESTION_MS = 2_000;
const BATCH_MS = 60_000;
const RETRY_MS = 30_000;

/**
 * Ranks texts by the meaning of a question. Vectors of texts are made in the background, once each, so that the first
 * questions are answered without. A function that fails or is late costs the second signal, and is counted.
 */
export class Meanings {
  readonly #embed: Embed;
  readonly #vectors = new RecentMap<string, Float32Array>(MAX_KEPT);
  #making: Promise<void> | undefined;
  #retryAt = 0;
  readonly #failures = metrics.getMeter("@rockbot/search").createCounter("rockbot.search.embed_failures", {
    description: "Batches of texts or questions that the embedding function gave no vectors for in time.",
  });

  constructor(embed: Embed) {
    this.#embed = embed;
  }

  /** Ranks the texts that have vectors, nearest first. Undefined if the question has none. */
  async rank<T>(question: string, texts: readonly MeantText<T>[]): Promise<readonly T[] | undefined> {
    const missing = texts.filter(({ text }) => !this.#vectors.has(text)).map(({ text }) => text);
    if (missing.length > 0 && performance.now() >= this.#retryAt)
      this.#making ??= this.#make(missing).finally(() => (this.#making = undefined));
    if (missing.length === texts.length || performance.now() < this.#retryAt) return undefined;
    const [vector] = (await this.#vectorsOf([question], QUESTION_MS)) ?? [];
    if (vector === undefined) return undefined;
    const ranked = texts.flatMap(({ item, text }) => {
      const known = this.#vectors.get(text);
      return known === undefined ? [] : [{ item, nearness: product(vector, known) }];
    });
    return ranked.sort((a, b) => b.nearness - a.nearness).map(({ item }) => item);
  }

  async #make(texts: readonly string[]): Promise<void> {
    const distinct = [...new Set(texts)].slice(0, MAX_KEPT);
    for (let at = 0; at < distinct.length; at += BATCH) {
      const batch = distinct.slice(at, at + BATCH);
      const vectors = await this.#vectorsOf(batch, BATCH_MS);
      if (vectors === undefined) return;
      for (const [i, text] of batch.entries()) this.#vectors.set(text, vectors[i] ?? new Float32Array());
    }
  }

  async #vectorsOf(texts: readonly string[], ms: number): Promise<readonly Float32Array[] | undefined> {
    try {
      const vectors = await within(ms, this.#embed(texts), () => new Error(`no vectors within ${ms} ms`));
      if (vectors.length !== texts.length) throw new Error(`${vectors.length} vectors for ${texts.length} texts`);
      return vectors.map(normalized);
    } catch {
      this.#failures.add(1);
      this.#retryAt = performance.now() + RETRY_MS;
      return undefined;
    }
  }
}

/**
 * Reciprocal rank fusion: what stands high in several lists comes first.
 * @see Cormack, Clarke and Büttcher, SIGIR 2009
 */
export function fuseRanks<T>(
  lists: readonly (readonly T[])[],
): readonly { readonly item: T; readonly score: number }[] {
  const scores = new Map<T, number>();
  for (const list of lists)
    for (const [place, item] of list.entries()) scores.set(item, (scores.get(item) ?? 0) + 1 / (FUSION_K + place + 1));
  return [...scores].map(([item, score]) => ({ item, score })).sort((a, b) => b.score - a.score);
}

/** The constant of the paper. */
const FUSION_K = 60;

function normalized(vector: ArrayLike<number>): Float32Array {
  const own = Float32Array.from(vector);
  const length = Math.hypot(...own) || 1;
  return own.map((value) => value / length);
}

function product(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i++) sum += (one[i] ?? 0) * (other[i] ?? 0);
  return sum;
}
