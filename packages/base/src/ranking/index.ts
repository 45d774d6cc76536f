export { B, idfOf, K1, PHRASE_BONUS } from "./bm25.ts";
export { type Ranked, type RankOptions, rank, rankWithScores } from "./rank-with-scores.ts";
