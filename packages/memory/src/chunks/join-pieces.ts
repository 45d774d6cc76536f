import type { Piece } from "./piece.ts";

/** Joins neighbours up to `maxLength` where there are more pieces than `maxPieces`. A joined piece has the heading of its first. */
export function joinPieces(pieces: readonly Piece[], maxLength: number, maxPieces: number): readonly Piece[] {
  if (pieces.length <= maxPieces) return pieces;
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    const isFitting = last !== undefined && last.before.length + (piece.end - last.start) + piece.after.length <= maxLength;
    if (isFitting) joined[joined.length - 1] = { ...last, end: piece.end, after: piece.after, omitted: piece.omitted };
    else joined.push(piece);
  }
  return joined;
}
