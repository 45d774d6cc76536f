/** So many words in a row that stand in the truth are no coincidence. */
const RUN = 4;
/** Shorter blocks are looked for as a whole. */
const LONG = 6;
const NEAR = 3;

/**
 * How much of each block belongs to the truth, in [0, 1]. A long block has the share of its words that stand in runs of
 * the truth. A short one belongs to it if the truth has it as a whole: of several that are the same, as many as the
 * truth has, those nearest to long ones that belong to it.
 */
export function labelBlocks(blocks: readonly (readonly string[])[], truth: readonly string[]): number[] {
  const left = new Map<string, number>();
  for (let i = 0; i + RUN <= truth.length; i++) add(left, truth.slice(i, i + RUN).join(" "), 1);
  const labels = blocks.map((words) => (words.length < LONG ? 0 : shareInRuns(words, left)));

  const whole = ` ${truth.join(" ")} `;
  const short = new Map<string, number[]>();
  blocks.forEach((words, i) => {
    if (words.length === 0 || words.length >= LONG) return;
    const text = words.join(" ");
    short.set(text, [...(short.get(text) ?? []), i]);
  });
  const long = blocks.flatMap((words, i) => (words.length >= LONG ? [i] : []));
  for (const [text, places] of short) {
    const count = whole.split(` ${text} `).length - 1;
    if (count === 0) continue;
    const best = places
      .map((at) => ({ at, near: labelNear(at, blocks, long, labels) }))
      .sort((a, b) => b.near - a.near || a.at - b.at);
    for (const { at } of best.slice(0, count)) labels[at] = 1;
  }
  return labels;
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** Takes the runs that a block uses out of those that are left. */
function shareInRuns(words: readonly string[], left: Map<string, number>): number {
  const isHit = new Array<boolean>(words.length).fill(false);
  const used: string[] = [];
  for (let i = 0; i + RUN <= words.length; i++) {
    const run = words.slice(i, i + RUN).join(" ");
    if ((left.get(run) ?? 0) <= 0) continue;
    used.push(run);
    isHit.fill(true, i, i + RUN);
  }
  const share = isHit.filter(Boolean).length / words.length;
  if (share > 0.5) for (const run of used) add(left, run, -1);
  return share;
}

function labelNear(
  at: number,
  blocks: readonly (readonly string[])[],
  long: readonly number[],
  labels: readonly number[],
): number {
  let after = long.findIndex((i) => i > at);
  if (after < 0) after = long.length;
  let sum = 0;
  let total = 0;
  for (const i of long.slice(Math.max(0, after - NEAR), after + NEAR)) {
    const weight = Math.min(40, blocks[i]?.length ?? 0) / (1 + Math.abs(i - at));
    sum += weight * (labels[i] ?? 0);
    total += weight;
  }
  return total === 0 ? 0 : sum / total;
}
