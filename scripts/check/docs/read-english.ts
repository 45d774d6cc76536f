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

const PREPOSITION =
  /^(?:About|After|Along|Among|Around|As|At|Before|Behind|Below|Beside|Between|Beyond|By|During|For|From|In|Into|On|Outside|Over|Per|Since|Through|To|Under|Until|With|Within|Without)\b/;
/** Verbs that comments have often. A word that is a noun, too, counts as one: rather a fault is missed than a good text refused. */
const VERB =
  /\b(?:is|are|was|were|has|have|had|does|do|did|may|can|cannot|must|will|would|should|could|might|(?:ask|begin|break|call|come|cost|count|differ|end|fail|find|get|give|hold|keep|know|leave|let|look|make|mean|need|read|return|run|say|send|stand|start|stay|stop|take|tell|use|wait|write)s?|goes|reaches)\b/;

/** The first sentence of a comment, if it has no verb and no thing: it begins with a preposition, as "In milliseconds." */
export function fragmentIn(block: string): string | undefined {
  const [first] = [...sentences.segment(plain(block))];
  const sentence = first?.segment.trim() ?? "";
  return PREPOSITION.test(sentence) && !VERB.test(sentence) ? sentence : undefined;
}

/** Code spans as one word each, and white space as one blank. */
const plain = (block: string): string =>
  block
    .replaceAll(/(`+)[\s\S]*?\1/g, "X")
    .replaceAll(/\s+/g, " ")
    .trim();

/**
 * Judges one block of prose, such as a paragraph, a list item or a doc comment without its marks. Code spans in
 * backticks count as one word each. The block's last sentence needs no full stop.
 */
export function readEnglish(block: string, kind: Kind = "prose"): English {
  const text = plain(block);
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
