import type { ServiceEntry } from "./service-entry.ts";

/** A service that a question finds. */
export interface ServiceHit {
  readonly entry: ServiceEntry;
  /** Its share of the best hit's score, in (0, 1]. */
  readonly relevance: number;
  /** As BM25 gives it: comparable among the questions to one index. */
  readonly score: number;
  /** The tools or skills that the question finds, best first, at most 3; else the first ones. */
  readonly top: readonly string[];
}
