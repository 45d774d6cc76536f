import { fence } from "@rockbot/contracts";
import { type AnyNode, ancestorsOf, type Element, isElement, textOf } from "../tree/dom.ts";
import { blockNames } from "../tree/element-names.ts";
import { escapeText, inLink, isInAddress } from "./escape-text.ts";
import { inMark, type Mark } from "./settle-marks.ts";

/** Markdown of an element whose children are not written. */
export const leafRules: ReadonlyMap<string, (element: Element) => string> = new Map(
  Object.entries({
    br: (end) => (isNamed(end.prev, "br") && !isMarked(end) ? "\n\n" : "\n"),
    hr: () => "\n\n---\n\n",
    img: (picture) => {
      const { alt = "", src } = picture.attribs;
      return `![${escapeText(alt, { goesOn: alt.includes("<") && isInAddress(picture), isInLine: true })}](${src})`;
    },
    pre: (pre) => `\n\n${fence(textOf(pre), languageOf(pre))}\n\n`,
    "tex-math": (formula) => {
      // What a reader without formulas would take for a tag or a link means the same to one with them.
      const tex = namedBrackets(textOf(formula))
        .replaceAll(/<(?=[a-z/!?])/gi, "\\lt ")
        .replaceAll("](", "] (")
        .replaceAll("`", "‘");
      return "data-block" in formula.attribs ? `\n\n$$\n${tex}\n$$\n\n` : `$${tex}$`;
    },
    "note-mark": ({ attribs }) => `[^${attribs["data-number"]}]`,
    "task-mark": ({ attribs }) => ("data-done" in attribs ? "[x] " : "[ ] "),
  } satisfies Record<string, (element: Element) => string>),
);

/** What stands around the words of an element, on both sides. */
const marks: ReadonlyMap<string, Mark> = new Map<string, Mark>([
  ...["em", "i"].map((name) => [name, "*"] as const),
  ...["strong", "b"].map((name) => [name, "**"] as const),
  ...["del", "s", "strike"].map((name) => [name, "~~"] as const),
]);

/** Elements that are a mark around words. */
export const markNames: ReadonlySet<string> = new Set(marks.keys());

/** Tells whether two elements are one mark in markdown. */
export const isSameMark = (element: Element, next: AnyNode): next is Element =>
  isElement(next) && markNames.has(element.name) && marks.get(element.name) === marks.get(next.name);

/**
 * TeX that has a command in the place of each bracket without its other: one would make a link with what follows the
 * formula.
 */
function namedBrackets(tex: string): string {
  const open: number[] = [];
  const odd = new Set<number>();
  for (const { 0: bracket, index } of tex.matchAll(/[[\]]/g)) {
    if (bracket === "[") open.push(index);
    else if (open.pop() === undefined) odd.add(index);
  }
  for (const index of open) odd.add(index);
  return tex.replaceAll(/[[\]]/g, (bracket, index: number) =>
    odd.has(index) ? (bracket === "[" ? "\\lbrack " : "\\rbrack ") : bracket,
  );
}

type ContentRule = (content: string, element: Element) => string;

/** Markdown of an element, from the markdown of its children. Any other element is only its content. */
export const contentRules: ReadonlyMap<string, ContentRule> = new Map(
  Object.entries({
    a: (content, { attribs }) => {
      const href = attribs["href"];
      return href === undefined || content === "" ? content : `[${inLink(content)}](${href})`;
    },
    blockquote: (content) =>
      `\n\n${content
        .replace(/^\n+/, "")
        .replace(/\n{1,2}$/, "")
        .replaceAll(/^/gm, "> ")}\n\n`,
    code: inlineCode,
    "code-text": (content) => around(content, "<code>", "</code>"),
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((rank) => [`h${rank}`, (content: string) => heading(content, rank)])),
    ...Object.fromEntries(["ul", "ol", "menu", "dir"].map((name) => [name, list])),
    li: (content, { attribs }) => {
      const marker = attribs["data-marker"] ?? "- ";
      const text = content.trim();
      return text === "" ? "" : `\n${marker}${text.replaceAll("\n", `\n${" ".repeat(marker.length)}`)}\n`;
    },
    ...Object.fromEntries(
      [...marks].map(([name, mark]) => [name, (content: string, element: Element) => marked(content, element, mark)]),
    ),
    q: (content) => around(content, '"'),
    ...Object.fromEntries(
      ["sub", "sup"].map((name) => [name, (content: string) => around(content, `<${name}>`, `</${name}>`)]),
    ),
    // What parts the labels of tabs is drawn.
    label: (content, { prev }) => (isNamed(prev, "label") ? ` ${content}` : content),
    rt: (content, { prev, next }) =>
      [prev, prev?.prev, next].some((sibling) => isNamed(sibling, "rp")) ? content : `(${content})`,
    // A reader without notes takes a note of one word for an address.
    "note-text": (content, { attribs }) =>
      `\n\n[^${attribs["data-number"]}]: ${content.trim().replace(/^(?:javascript|data|vbscript):\S*/i, "`$&`")}\n\n`,
    dt: (content) => (content.trim() === "" ? "" : `\n\n${inMark(content.trim(), "**")}\n`),
    dd: definition,
    table: (content) => `\n\n${content.trim()}\n\n`,
    tr: (content, { attribs }) => {
      const columns = attribs["data-columns"];
      return `\n|${content}${columns === undefined ? "" : `\n|${" --- |".repeat(Number(columns))}`}`;
    },
    td: cell,
    th: cell,
  } satisfies Record<string, ContentRule>),
);

/** A number sign behind the last word would be taken for a second mark of the heading. */
function heading(content: string, rank: number): string {
  const words = content.trim().replace(/(?<=\s)#+$/, "\\$&");
  return words === "" ? "" : `\n\n${"#".repeat(rank)} ${words}\n\n`;
}

function list(content: string, element: Element): string {
  const { parent } = element;
  const isLastOfItem =
    parent !== null && isElement(parent) && parent.name === "li" && parent.children.findLast(isElement) === element;
  const items = content.replace(/^\n+/, "");
  return isLastOfItem ? `\n${items}` : `\n\n${items}\n\n`;
}

/** A mark in the same one would mean another, or nothing. */
const marked = (content: string, element: Element, mark: Mark): string =>
  isWithin(element, mark) || content.trim() === "" || holdsBlocks(content) ? content : inMark(content, mark);

/** Markdown has no mark around blocks. */
function around(content: string, start: string, end = start): string {
  if (content.trim() === "") return "";
  return holdsBlocks(content) ? content : start + content + end;
}

/** Tells whether some of it stands on lines of its own. */
export const holdsBlocks = (content: string): boolean => /^\n|\n\n|\n$/.test(content);

/** Readers without definitions take its first line for a paragraph, so that a block would not begin in it. */
function definition(content: string): string {
  const text = content.trim().replaceAll(/\n(?=.)/g, "\n  ");
  return text === "" ? "" : `\n:${/^(?:```|- |\d+\. |> |#+ |\|)/.test(text) ? "\n\n  " : " "}${text}\n`;
}

function isWithin(element: Element, mark: Mark): boolean {
  for (const { name } of ancestorsOf(element)) {
    if (marks.get(name) === mark || (name === "dt" && mark === "**")) return true;
    if (blockNames.has(name)) return false;
  }
  return false;
}

const isNamed = (node: AnyNode | null | undefined, name: string): boolean =>
  node != null && isElement(node) && node.name === name;

/** Tells whether an element stands within marks: they would not reach beyond its paragraph. */
function isMarked(element: Element): boolean {
  for (const { name } of ancestorsOf(element)) {
    if (blockNames.has(name)) return false;
    if (contentRules.has(name)) return true;
  }
  return false;
}

/** Between so many backticks that none inside ends it, where all readers see these. */
function inlineCode(content: string, element: Element): string {
  if (content === "") return "";
  const line = content.replaceAll("\n", " ");
  if (isMisread(line, element)) return `<code>${escapeText(line, { isInLine: true })}</code>`;
  const runs = new Set(line.match(/`+/g));
  let ticks = "`";
  while (runs.has(ticks)) ticks += "`";
  const space = /^`|^ .*?[^ ].* $|`$/.test(line) ? " " : "";
  return ticks + space + line + space + ticks;
}

/**
 * In a link some readers end code at any backtick, or at what may begin an address. In a cell all readers end it at a
 * bar that follows a backslash of the code.
 */
function isMisread(code: string, element: Element): boolean {
  const ends = [...(/`|\]\(/.test(code) ? ["a"] : []), ...(code.includes("\\|") ? ["td", "th"] : [])];
  return ends.length > 0 && [...ancestorsOf(element)].some(({ name }) => ends.includes(name));
}

/** A cell is one line. */
function cell(content: string): string {
  const line = content
    .trim()
    .replaceAll("|", "\\|")
    .replace(/(?:<br>)+$/, "")
    .replaceAll(/\s*\n\s*/g, "<br>");
  return ` ${line} |`;
}

const languageOf = ({ children }: Element): string => {
  const [code] = children;
  return code !== undefined && isElement(code) ? (/language-(\S+)/.exec(code.attribs["class"] ?? "")?.[1] ?? "") : "";
};
