/** The words of a text as they are compared: in lower case, without punctuation. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];

export interface Agreement {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** How far two bags of words agree. Two empty ones do. */
export function compareWords(found: readonly string[], truth: readonly string[]): Agreement {
  const left = new Map<string, number>();
  for (const word of truth) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of found) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    common++;
    left.set(word, count - 1);
  }
  if (found.length === 0 || truth.length === 0) {
    const both = found.length === truth.length ? 1 : 0;
    return { precision: both, recall: both, f1: both };
  }
  const precision = common / found.length;
  const recall = common / truth.length;
  return { precision, recall, f1: common === 0 ? 0 : (2 * precision * recall) / (precision + recall) };
}

/** Words in a form in which whole runs of them can be looked for. */
export const runOf = (text: string): string => ` ${wordsOf(text).join(" ")} `;
