import type { KnowledgeItem } from "@rockbot/knowledge-tools";

const VOCABULARY = 60_000;
/** Words that join others make up so much of English text. */
const JOINING_PART = 0.4;
const JOINING =
  "the of and to in a is that for it as was with be by on not he this are or his from at which but have an had they you were".split(
    " ",
  );
const SYLLABLES =
  "ba be bi bo ca ce co da de do fa fe fi ga ge go ha he ho ka ke la le li lo ma me mi mo na ne no pa pe po ra re ri ro sa se so ta te ti to va ve wa zo".split(
    " ",
  );
export const kinds = ["post", "thread", "reply", "node", "collection", "profile", "event"] as const;

/** Numbers from 0 to 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const word = (rank: number): string => {
  let text = "";
  for (let rest = rank + SYLLABLES.length; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    text += SYLLABLES[rest % SYLLABLES.length];
  return text;
};

/** Sums of the frequencies of words by their rank: those of texts without joining words. @see Mandelbrot's law */
const sums: number[] = [];
for (let rank = 0, sum = 0; rank < VOCABULARY; rank++) {
  sum += 1 / (rank + 30) ** 1.05;
  sums.push(sum);
}

/** A word that tells what a text is about: the rank is drawn as texts have them. */
export function tellingWord(random: () => number): string {
  const drawn = random() * (sums.at(-1) ?? 0);
  let [low, high] = [0, VOCABULARY - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sums[middle] ?? 0) < drawn) low = middle + 1;
    else high = middle;
  }
  return word(low);
}

/** The most common of those words. */
export const commonWord = word(0);

function sentence(random: () => number, words: number): string {
  const text = Array.from({ length: words }, () =>
    random() < JOINING_PART ? (JOINING[Math.floor(random() * JOINING.length)] ?? "") : tellingWord(random),
  ).join(" ");
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}

/** Items with 60 to 300 words each. One in ten is private. */
export function* makeItems(count: number): Generator<KnowledgeItem> {
  const random = randomFrom(1);
  const pick = (from: number): number => Math.floor(random() * from);
  for (let i = 0; i < count; i++) {
    const owner = `caller-${pick(50)}`;
    yield {
      id: `item-${i}`,
      kind: kinds[pick(kinds.length)] ?? "post",
      title: sentence(random, 6),
      body: Array.from({ length: 6 + pick(25) }, () => sentence(random, 10)).join(" "),
      author: `author-${pick(500)}`,
      categories: [`Category ${pick(40)}`],
      tags: [`tag-${pick(300)}`, `tag-${pick(300)}`],
      owner,
      space: random() < 0.1 ? undefined : "shared",
      origin: undefined,
      createdAt: i,
      updatedAt: i,
    };
  }
}
