import { Element, Text } from "domhandler";
import { languageOf } from "./code-language.ts";
import {
  ancestorsOf,
  elementsBelow,
  isElement,
  isInside,
  isText,
  nodesBelow,
  type ParentNode,
  setChildren,
  textOf,
} from "./dom.ts";
import { takeLabels } from "./take-labels.ts";

/**
 * Turns every `pre` into the plain `pre > code` that becomes a fenced block, with its language where the page names it.
 * Code in a table of lines becomes one, too. A label beside it that names its language, or copies it, goes.
 */
export function markCode(root: ParentNode): void {
  for (const table of elementsBelow(root, "table")) if (isListing(table)) replace(table, table, linesOf(table));
  const wrappers = new Set(elementsBelow(root, "table").filter(isWrapper));
  for (const pre of elementsBelow(root, "pre", "xmp", "listing", "code", "samp", "tt")) {
    const around = [...ancestorsOf(pre)];
    if (around.some(({ name }) => name === "pre")) continue;
    if (inlineNames.has(pre.name)) {
      markLines(pre, around);
      continue;
    }
    const code = codeOf(pre);
    const wrapper = around.find((element) => wrappers.has(element));
    if (code.trim() === "" || (wrapper !== undefined && isGutter(code))) drop(pre);
    else replace(wrapper ?? pre, pre, code);
  }
}

/** @param named what may name the language */
function replace(old: Element, named: Element, text: string): void {
  const label = takeLabels(old);
  const language = languageOf(named) || label;
  const code = new Element("code", language === "" ? {} : { class: `language-${language}` }, []);
  setChildren(code, [new Text(text)]);
  old.name = "pre";
  old.attribs = {};
  setChildren(old, [code]);
}

function drop(pre: Element): void {
  pre.name = "span";
  setChildren(pre, []);
}

const inlineNames: ReadonlySet<string> = new Set(["code", "samp", "tt"]);

/**
 * Code of a line of text that has several lines itself becomes a block of code. A cell has no blocks: there each line
 * becomes code.
 */
function markLines(code: Element, around: readonly Element[]): void {
  const inside = elementsBelow(code);
  if (
    !inside.some(({ name }) => lineEnds.has(name)) ||
    inside.some(({ name }) => structures.has(name)) ||
    around.some(({ name }) => lines.has(name))
  )
    return;
  let isSpread = false;
  for (const node of nodesBelow(code)) {
    if (!isText(node) || !node.data.includes("\n")) continue;
    isSpread = true; // its white space is the page's, and not the code's
    node.data = node.data.replaceAll(/\s*\n\s*/g, node.data.trim() === "" ? "" : " ");
  }
  const text = codeOf(code);
  const parts = isSpread ? text.split("\n").map((line) => line.trim()) : text.split("\n");
  if (parts.length < 2) return;
  if (!around.some(({ name }) => name === "td" || name === "th")) {
    replace(code, code, parts.join("\n"));
    return;
  }
  code.name = "span";
  setChildren(
    code,
    parts.flatMap((line, i) => {
      const part = new Element("code", {}, []);
      setChildren(part, [new Text(line)]);
      return i === 0 ? [part] : [new Element("br", {}, []), part];
    }),
  );
}

const lineEnds: ReadonlySet<string> = new Set(["br", "div", "p"]);
/** What is more than lines. */
const structures: ReadonlySet<string> = new Set([
  "blockquote",
  "dl",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "hr",
  "img",
  "ol",
  "pre",
  "table",
  "ul",
]);
/** Markdown writes these on one line, in which there are no blocks. */
const lines: ReadonlySet<string> = new Set(["a", "dt", "h1", "h2", "h3", "h4", "h5", "h6"]);

const isGutter = (code: string): boolean => /^[\d\s]+$/.test(code);

/** A highlighter's table of line numbers and code is no table: one row, with code in each cell. */
function isWrapper(element: Element): boolean {
  if (element.name !== "table") return false;
  if (/highlight|code|rouge|lntable/i.test(element.attribs["class"] ?? "")) return true;
  const cells = elementsBelow(element, "td", "th");
  return (
    cells.length > 1 &&
    elementsBelow(element, "tr").length === 1 &&
    cells.every((cell) => elementsBelow(cell, "pre").length === 1)
  );
}

/** A table whose rows, or whose one cell's blocks, are lines of code, without any `pre`. */
function isListing(table: Element): boolean {
  const words = `${table.attribs["class"] ?? ""} ${[...ancestorsOf(table)]
    .slice(0, 3)
    .map(({ attribs }) => attribs["class"] ?? "")
    .join(" ")}`;
  if (!/syntaxhighlighter|highlight|\bblob|js-file-line|code-?(?:table|block|listing)|hljs-ln/i.test(words))
    return false;
  return elementsBelow(table, "pre").length === 0 && elementsBelow(table, "td").some(isCodeCell);
}

const isCodeCell = ({ attribs }: Element): boolean => /(?:^|[\s-])code(?:[\s-]|$)/i.test(attribs["class"] ?? "");

function linesOf(table: Element): string {
  const cells = elementsBelow(table, "td").filter(isCodeCell);
  return cells.map((cell) => codeOf(cell).replace(/^\s*\n/, "")).join("\n");
}

/**
 * The text of a code block: a `br` and the end of a block inside are line ends, line numbers and buttons are not code.
 */
function codeOf(pre: Element): string {
  const parts: string[] = [];
  /**
   * Where parts stand that may be numbers of lines: counted from 1, each in an element of its own that begins a line.
   */
  const numbers: number[] = [];
  let skipped: Element | undefined;
  let line: Element | undefined;
  let hasLineEnded = false;
  for (const node of nodesBelow(pre)) {
    if (skipped !== undefined && isInside(node, skipped)) continue;
    skipped = undefined;
    if (line !== undefined && !isInside(node, line)) {
      hasLineEnded = parts.at(-1)?.endsWith("\n") === false;
      line = undefined;
    }
    if (isText(node)) {
      if (hasLineEnded && !/^[ \t]*\r?\n/.test(node.data)) parts.push("\n");
      hasLineEnded = false;
      const begins = parts.length === 0 || parts.at(-1)?.endsWith("\n") === true;
      if (
        begins &&
        node.data.trim() === String(numbers.length + 1) &&
        node.parent !== pre &&
        node.parent?.children.length === 1
      )
        numbers.push(parts.length);
      parts.push(node.data);
    } else if (!isElement(node)) continue;
    else if (node.name === "br") parts.push("\n");
    else if (isBesideCode(node)) skipped = node;
    else if (isLine(node)) {
      if (hasLineEnded) parts.push("\n");
      hasLineEnded = false;
      line = node; // some highlighters make an element of each line
    }
    if (isElement(node)) parts.push(...changeOf(node));
  }
  const countOfLines = parts.join("").trimEnd().split("\n").length;
  if (numbers.length > 1 && numbers.length === countOfLines) for (const at of numbers) parts[at] = "";
  // The converter's time grows with the square of a run of white space.
  return parts
    .join("")
    .replaceAll("\u00a0", " ")
    .replace(/^\n/, "")
    .trimEnd()
    .replaceAll(/[ \t]{200,}/g, " ")
    .replaceAll(/\n{20,}/g, "\n");
}

/** What a view of changes draws before a line, and holds in no text. */
function changeOf({ attribs }: Element): readonly string[] {
  const { "data-code-marker": sign, class: words = "" } = attribs;
  if (sign !== undefined && /^[-+ ]$/.test(sign)) return [sign];
  const [, change] = /(?:^|\s)diff (add|remove)(?:\s|$)/.exec(words) ?? [];
  return change === undefined ? [] : [change === "add" ? "+" : "-"];
}

const lineNumbers =
  /(?:^|\s)(?:ln|lnt|lno|linenos?|line-?num(?:ber)?s?(?:-rows)?|blob-num|hljs-ln-numbers?|code-line-numbers?|CodeMirror-linenumber|react-syntax-highlighter-line-number|(?:rouge-|code-)?gutter(?:\s+gl)?|copy(?:-?(?:btn|button|code))?)(?:\s|$)/i;

function isBesideCode(element: Element): boolean {
  if (element.name === "button" || lineNumbers.test(element.attribs["class"] ?? "")) return true;
  return /user-select:\s*none/i.test(element.attribs["style"] ?? "") && isGutter(textOf(element));
}

const lineWords = /(?:^|\s)(?:line|code-line|token-line|view-line|CodeMirror-line|highlight-line)(?:\s|$)/;
const blocks: ReadonlySet<string> = new Set(["div", "p", "li", "tr"]);

const isLine = ({ name, attribs, children }: Element): boolean =>
  (blocks.has(name) && !children.some((child) => isElement(child) && blocks.has(child.name))) ||
  lineWords.test(attribs["class"] ?? "");
