import type { Text } from "domhandler";
import { languageNamed } from "./code-language.ts";
import { type AnyNode, type Element, isElement, isText } from "./dom.ts";
import { blockNames } from "./element-names.ts";

/** So many boxes around code may hold its labels, with nothing else. */
const MAX_BOXES = 4;
/** So many boxes, or lines, of labels may stand before code. */
const MAX_LINES = 3;
/** Who writes more does not label. In texts, each an element's or a line's. */
const MAX_TEXTS = 4;

/**
 * Drops what stands right before a block of code, or right behind it, if it is no more than the code's language or the
 * words of a button that copies it. It drops none of two languages: they name tabs.
 * @returns the language that the label names, "" if there is none
 */
export function takeLabels(code: Element): string {
  const labels: Text[] = [];
  let language = "";
  let lines = 0;
  for (const line of labelsBeside(code, "prev")) {
    if (++lines > MAX_LINES) break;
    const named = line.filter((label) => !isCopy(label));
    if (named.length + (language === "" ? 0 : 1) > 1) return "";
    for (const label of named) language = languageNamed(wordsOf(label));
    labels.push(...line);
  }
  const [behind = []] = labelsBeside(code, "next");
  if (behind.every(isCopy)) labels.push(...behind);
  for (const label of labels) label.data = "";
  return language;
}

const wordsOf = ({ data }: Text): string => data.replaceAll(/\s+/g, " ").trim();
const isCopy = (label: Text): boolean => COPY.test(wordsOf(label));

/** What buttons beside code say in the languages that many pages are in. */
const COPY =
  /^(?:copy(?: (?:code|command|snippet|text))?(?: to clipboard)?|copied!?|kopieren|kopiert!?|copier|copié ?!?|copiar|¡?copiado!?|copia|копировать|скопировать|复制(?:代码)?|コピー(?:する)?|복사)$/i;

/**
 * The labels on one side of a block by lines, the nearest first, up to a line that says more. They stand beside the
 * block, or beside the boxes that begin, or end, with it.
 */
function* labelsBeside(block: Element, side: "prev" | "next"): Generator<readonly Text[]> {
  let at: Element = block;
  for (let boxes = 0; boxes <= MAX_BOXES; boxes++) {
    let line: Text[] = [];
    let isBeside = false;
    for (let node = at[side]; node !== null; node = node[side]) {
      const isBlock = isElement(node) && (node.name === "br" || blockNames.has(node.name));
      if ((isBlock || !isBeside) && line.length > 0) {
        yield line;
        line = [];
      }
      isBeside = !isBlock;
      if (!addLabels(node, line)) return;
    }
    if (line.length > 0) yield line;
    const { parent } = at;
    if (parent === null || !isElement(parent) || !boxNames.has(parent.name)) return;
    at = parent;
  }
}

const boxNames: ReadonlySet<string> = new Set(["div", "figure", "section", "span"]);

/** Adds the texts of a node to its line; false if one of them is no label. */
function addLabels(node: AnyNode, line: Text[]): boolean {
  if (isElement(node)) return !meaningful.has(node.name) && node.children.every((child) => addLabels(child, line));
  if (!isText(node) || node.data.trim() === "") return true;
  line.push(node);
  return line.length <= MAX_TEXTS && (isCopy(node) || languageNamed(wordsOf(node)) !== "");
}

/** What is more than a label whatever it says, or shows something without text. */
const meaningful: ReadonlySet<string> = new Set([
  ...["dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "pre", "summary", "table", "task-mark", "tex-math"],
]);
