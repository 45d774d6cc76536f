import { type AnyNode, isElement, isParent, isText } from "../tree/dom.ts";
import { isNamedMark } from "../tree/mark-notes.ts";

/** What a block's text is like, counted once. */
export interface TextFacts {
  /** The text on one line, and no longer than MAX_TEXT. */
  readonly text: string;
  readonly words: number;
  readonly letters: number;
  readonly linkWords: number;
  readonly links: number;
  readonly stopWords: number;
  readonly marks: number;
  readonly digits: number;
  readonly capitals: number;
  readonly images: number;
  /** Words in bold or italics. */
  readonly stressed: number;
  /** The ids of the notes that it refers to by links that say so. */
  readonly notes?: readonly string[] | undefined;
}

/** The longest text of a block that is kept: counts tell what a longer one says more. */
const MAX_TEXT = 400;

/** Frequent words of languages that part words by spaces: prose has many of them, and labels few. */
const stopWords: ReadonlySet<string> = new Set(
  (
    "a an and are as at be but by can do for from had has have he her his i if in into is it its my no not of on or our she so than that the their them then there they this to up was we were what when which who will with would you your " +
    "au aux avec ce ces dans de des du elle en est et il ils je la le les leur mais nous on ou par pas pour que qui sa se ses son sur un une vous " +
    "als am auch auf aus bei das dass dem den der des die ein eine einen einer er es für ich im in ist mit nach nicht oder sich sie sind und von war wie wir zu zum zur " +
    "al como con de del el ella en es esta este ha la las lo los más no para pero por que se sin su sus un una y " +
    "che con da dei del della di e è gli i il in la le lo ma nel non per più si sono un una " +
    "ao as com da das de do dos e em não na no nos o os para por se um uma " +
    "de een en het in is met niet op te van voor zijn dat die " +
    "в и на не что с по как это к из у за от о для я он она они мы вы же бы но или при w z i na do nie się że jest to är och att det som en på av för den til og i på er det"
  ).split(" "),
);

const LONGEST_STOP_WORD = 6;

/** @param isInLink whether the nodes stand in a link already @param unseen nodes that are passed by */
export function readText(nodes: readonly AnyNode[], isInLink: boolean, unseen: ReadonlySet<AnyNode>): TextFacts {
  const facts = {
    text: "",
    words: 0,
    letters: 0,
    linkWords: 0,
    links: 0,
    stopWords: 0,
    marks: 0,
    digits: 0,
    capitals: 0,
    images: 0,
    stressed: 0,
    notes: undefined as string[] | undefined,
  };
  const parts: string[] = [];
  let length = 0;
  let alternative = "";
  for (const node of nodes) read(node, isInLink, false);
  // What stands for a link that is a picture is read where there is nothing else.
  if (facts.words === 0 && alternative !== "") {
    countWords(alternative, facts);
    facts.linkWords = facts.words;
    parts.push(alternative);
  }
  if (isInLink && facts.links === 0 && facts.words > 0) facts.links = 1;
  facts.text = parts.join("").replaceAll(/\s+/g, " ").trim().slice(0, MAX_TEXT);
  return facts;

  function read(node: AnyNode, isLink: boolean, isStressed: boolean): void {
    if (isText(node)) {
      if (unseen.has(node)) return;
      const before = facts.words;
      countWords(node.data, facts);
      if (isLink) facts.linkWords += facts.words - before;
      if (isStressed) facts.stressed += facts.words - before;
      if (length < MAX_TEXT * 2) parts.push(node.data);
      length += node.data.trim().length;
      return;
    }
    if (!isParent(node) || unseen.has(node)) return;
    const name = isElement(node) ? node.name : "";
    if (isElement(node) && name === "a") {
      facts.links++;
      if (isNamedMark(node)) {
        facts.notes ??= [];
        facts.notes.push((node.attribs["href"] ?? "").slice(1));
      }
    } else if (isElement(node) && name === "img") {
      facts.images++;
      if (isLink) alternative ||= node.attribs["alt"] ?? "";
    }
    if (name === "br" || name === "td" || name === "th") parts.push(" ");
    const stress = isStressed || name === "b" || name === "strong" || name === "i" || name === "em";
    for (const child of node.children) read(child, isLink || name === "a", stress);
  }
}

type Counts = { -readonly [Name in "words" | "letters" | "stopWords" | "marks" | "digits" | "capitals"]: number };

/** Counts in one pass. A character of a script without spaces counts as half a word. */
function countWords(text: string, counts: Counts): void {
  let start = -1;
  let ideographs = 0;
  for (let i = 0; i <= text.length; i++) {
    const code = i < text.length ? text.charCodeAt(i) : 32;
    const isLetter =
      (code >= 97 && code <= 122) ||
      (code >= 65 && code <= 90) ||
      (code >= 0xc0 && code < 0x2000) ||
      (code >= 0xac00 && code < 0xd7b0);
    const isDigit = code >= 48 && code <= 57;
    if (isLetter || isDigit || code === 95) {
      if (start < 0) {
        start = i;
        if (code >= 65 && code <= 90) counts.capitals++;
      }
      if (isDigit) counts.digits++;
      continue;
    }
    if (start >= 0) {
      counts.words++;
      counts.letters += i - start;
      if (i - start <= LONGEST_STOP_WORD && stopWords.has(text.slice(start, i).toLowerCase())) counts.stopWords++;
      start = -1;
    }
    if (code >= 0x3040 && code < 0xa000) ideographs++;
    else if (
      code === 44 ||
      code === 46 ||
      code === 59 ||
      code === 58 ||
      code === 33 ||
      code === 63 ||
      code === 0x3002 ||
      code === 0xff0c
    )
      counts.marks++;
  }
  if (ideographs > 0) {
    counts.words += Math.ceil(ideographs / 2);
    counts.letters += ideographs;
    counts.stopWords += ideographs / 8;
  }
}
