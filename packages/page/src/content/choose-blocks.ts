/**
 * Which blocks to keep, so that what is kept is expected to agree best with the content. By words, F1 = 2 * (content
 * kept) / (kept + content). The best choice is all blocks whose share of content is above a limit, which is found by
 * trying each.
 */
export function chooseBlocks(shares: ArrayLike<number>, words: ArrayLike<number>): boolean[] {
  const order = Array.from({ length: shares.length }, (_, i) => i).sort(
    (a, b) => (shares[b] as number) - (shares[a] as number),
  );
  let content = 0;
  for (let i = 0; i < shares.length; i++) content += (shares[i] as number) * (words[i] as number);
  let kept = 0;
  let keptContent = 0;
  let best = -1;
  let limit = Number.POSITIVE_INFINITY;
  for (const i of order) {
    kept += words[i] as number;
    keptContent += (shares[i] as number) * (words[i] as number);
    const agreement = (2 * keptContent) / (kept + content || 1);
    if (agreement > best) [best, limit] = [agreement, shares[i] as number];
  }
  return Array.from({ length: shares.length }, (_, i) => (shares[i] as number) >= limit);
}
