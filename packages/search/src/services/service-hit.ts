import type { ServiceEntry } from "./service-entry.ts";

/** A service that a question finds. */
export interface ServiceHit {
  readonly entry: ServiceEntry;
  /**
   * How well it answers the question, in [0, 1]: by how much of the question it has, and by its score beside what the
   * question could score. None is below that of a later hit.
   */
  readonly relevance: number;
  /** As BM25 gives it: comparable among the questions to one index. */
  readonly score: number;
  /** How many words of the question it has. One that it has in a name counts twice. */
  readonly words: number;
  /** The tools or skills that the question finds, best first, at most 3; else the first ones. */
  readonly top: readonly string[];
}
