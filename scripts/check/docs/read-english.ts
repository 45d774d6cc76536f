/** What a text is like to read. */
export interface English {
  /** Words of each sentence. */
  readonly lengths: readonly number[];
  /** Each fault in words, with the sentence that has it. */
  readonly faults: readonly string[];
}

/** No sentence has more words. A `code span` counts as one. */
const MAX_WORDS = 25;

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

/**
 * A description of a field is a `label`, often without a verb: it need not be a whole sentence. A `note` stands in the
 * sources: the comment of an inner name, an error, a line of the log. It may be a label, and is as long as it needs.
 */
export type Kind = "prose" | "label" | "note";

interface Rule {
  readonly pattern: RegExp;
  readonly fault: string;
  readonly proseOnly?: boolean;
}

const forbidden: readonly Rule[] = [
  { pattern: /^(?:Whether|Of|That|Those|As whom)\b/, fault: "begin with the thing, or with its name" },
  { pattern: /\b(?:is|are|was|were|be|been|being) (?:had|told)\b/i, fault: "name the actor" },
  { pattern: /^(?:Who|What|Whoever|Whatever)\b.*[.:;!]$/, fault: "begin with a noun", proseOnly: true },
  { pattern: /\b(?:whoever|whomever|whosoever)\b/i, fault: "name the actor" },
  {
    pattern:
      /[^?]\b(?:to|for|of|by|with|from|than|and|or|as) who(?:m)? (?:is|are|has|have|does|was|may|can|asks|sends|waits)\b/i,
    fault: "name the actor",
  },
  { pattern: /\bnobody (?:hears|tells|says|is told)\b/i, fault: "name the actor" },
  { pattern: /\b(?:so is it with|it is had|be it that)\b/i, fault: "use the usual order of words" },
];

/**
 * Judges one block of prose, such as a paragraph, a list item or a doc comment without its marks. Code spans in
 * backticks count as one word each. The block's last sentence needs no full stop.
 */
export function readEnglish(block: string, kind: Kind = "prose"): English {
  const text = block
    .replaceAll(/(`+)[\s\S]*?\1/g, "X")
    .replaceAll(/\s+/g, " ")
    .trim();
  const lengths: number[] = [];
  const faults: string[] = [];
  for (const { segment } of sentences.segment(text)) {
    const sentence = segment.trim();
    const words = sentence.split(" ").filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
    if (words === 0) continue;
    lengths.push(words);
    if (words > MAX_WORDS && kind !== "note") faults.push(`${words} words, at most ${MAX_WORDS}: ${sentence}`);
    for (const { pattern, fault, proseOnly } of forbidden) {
      const found = proseOnly && kind !== "prose" ? null : pattern.exec(sentence);
      if (found !== null) faults.push(`"${found[0].trim()}", ${fault}: ${sentence}`);
    }
  }
  return { lengths, faults };
}
