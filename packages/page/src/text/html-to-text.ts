import { visibleText } from "@rockbot/contracts";
import { removeHidden } from "../hidden/remove-hidden.ts";
import { type AnyNode, type Element, isElement, isParent, isText, type ParentNode } from "../tree/dom.ts";
import { parsePage } from "../tree/parse-page.ts";
import { baseOf } from "../tree/resolve-links.ts";

/** How HTML becomes plain text. */
export interface HtmlToTextOptions {
  /**
   * The address that relative links are resolved against, unless the HTML names a base. Without either they are shown
   * as they are written.
   */
  readonly url?: string | undefined;
}

/**
 * HTML as readable plain text. Blocks stand on lines of their own, and a link is `text (url)`. List items have markers,
 * and tabs part the cells of a row. Scripts, styles, what people do not see, and characters without a sign are left
 * out. The time grows with the input, without bound: what strangers wrote goes through the converter.
 */
export function htmlToText(html: string, { url }: HtmlToTextOptions = {}): string {
  // A style that hides the whole page hides it until its scripts run, not from people.
  return read(html, url, true) || read(html, url, false);
}

function read(html: string, url: string | undefined, withSheets: boolean): string {
  const writer = new TextWriter();
  const $ = parsePage(html, { maxNodes: Number.POSITIVE_INFINITY });
  const root = $.root()[0] as ParentNode;
  const base = baseOf(root, url)?.href;
  removeHidden($, { withSheets });
  const open: Step[] = [{ node: root, isEnd: false }];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const { node, isEnd } = step;
    if (isText(node)) writer.text(node.data);
    if (!isParent(node) || (isElement(node) && unseen.has(node.name))) continue;
    if (isElement(node)) (isEnd ? endElement : beginElement)(writer, node, base);
    if (isEnd) continue;
    open.push({ node, isEnd: true });
    for (let i = node.children.length - 1; i >= 0; i--) open.push({ node: node.children[i] as AnyNode, isEnd: false });
  }
  return visibleText(writer.finish());
}

interface Step {
  readonly node: AnyNode;
  readonly isEnd: boolean;
}

const unseen: ReadonlySet<string> = new Set([
  "script",
  "style",
  "template",
  "head",
  "title",
  "svg",
  "iframe",
  "object",
]);
/** Their text stands apart by an empty line. */
const paragraphs: ReadonlySet<string> = new Set([
  "p",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "blockquote",
  "table",
  "pre",
  "hr",
  "figure",
  "dl",
]);
const lists: ReadonlySet<string> = new Set(["ul", "ol", "menu"]);
const blocks: ReadonlySet<string> = new Set([
  ...[
    "address",
    "article",
    "aside",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dt",
    "fieldset",
    "figcaption",
    "footer",
    "form",
  ],
  ...["header", "legend", "li", "main", "nav", "option", "section", "summary", "tr"],
]);

function beginElement(writer: TextWriter, element: Element): void {
  const { name } = element;
  if (paragraphs.has(name)) writer.breakLine(2);
  else if (blocks.has(name)) writer.breakLine(1);
  if (lists.has(name)) writer.openList(name === "ol" ? startOf(element) : undefined);
  else if (name === "li") writer.item();
  else if (name === "br") writer.lineBreak();
  else if (name === "td" || name === "th") writer.cell();
  else if (name === "tr") writer.row();
  else if (name === "pre") writer.openPre();
  else if (name === "a") writer.openLink();
}

function endElement(writer: TextWriter, element: Element, base: string | undefined): void {
  const { name } = element;
  if (name === "td" || name === "th") writer.endCell();
  else if (name === "li") writer.endItem();
  else if (name === "a") writer.closeLink(target(element.attribs["href"], base));
  else if (name === "pre") writer.closePre();
  else if (lists.has(name)) writer.closeList();
  if (paragraphs.has(name)) writer.breakLine(2);
  else if (blocks.has(name)) writer.breakLine(1);
}

const startOf = ({ attribs }: Element): number => {
  const start = Number(attribs["start"] ?? 1);
  return Number.isSafeInteger(start) ? start : 1;
};

/** Where a link leads, if a reader of the text can go there. */
function target(href: string | undefined, base: string | undefined): string | undefined {
  const text = (href ?? "").trim();
  if (text === "" || text.startsWith("#")) return undefined;
  const url = URL.parse(text, base);
  if (url === null) return /^[a-z][a-z0-9+.-]*:/i.test(text) ? undefined : text;
  return /^(https?|mailto|tel):$/.test(url.protocol) ? url.href : undefined;
}

interface List {
  /** The number of the next item; undefined where items have none. */
  next: number | undefined;
}

/** Lines of text, of which white space is written only once there is something behind it. */
class TextWriter {
  readonly #parts: string[] = [];
  readonly #lists: List[] = [];
  /** Where the text of each open link begins, in `#parts`. */
  readonly #links: number[] = [];
  #newlines = 0;
  #hasSpace = false;
  #isEmpty = true;
  #pre = 0;
  #cells = 0;
  /** Behind a marker or a tab: the first block there begins on the same line. */
  #isAtStart = false;

  text(text: string): void {
    if (this.#pre > 0) {
      const lines = text.split("\n");
      lines.forEach((line, i) => {
        if (i > 0) this.lineBreak();
        if (line !== "") this.#write(line);
      });
      return;
    }
    for (const [part] of text.matchAll(/[\t\n\f\r ]+|[^\t\n\f\r ]+/g)) {
      if (/^[\t\n\f\r ]/.test(part)) this.#hasSpace = true;
      else this.#write(part);
    }
  }

  /** At least so many line ends before what follows. */
  breakLine(newlines: number): void {
    if (this.#isAtStart) return;
    this.#newlines = Math.max(this.#newlines, newlines);
    this.#hasSpace = false;
  }

  /** One line end more. Several make one empty line at most, but for preformatted text. */
  lineBreak(): void {
    this.#newlines = this.#pre > 0 ? this.#newlines + 1 : Math.min(2, this.#newlines + 1);
    this.#hasSpace = false;
  }

  openList(start: number | undefined): void {
    this.#isAtStart = false;
    this.breakLine(this.#lists.length === 0 ? 2 : 1);
    this.#lists.push({ next: start });
  }

  closeList(): void {
    this.#lists.pop();
    this.breakLine(this.#lists.length === 0 ? 2 : 1);
  }

  item(): void {
    const list = this.#lists.at(-1);
    const indent = "  ".repeat(Math.min(MAX_INDENT, Math.max(0, this.#lists.length - 1)));
    const marker = list?.next === undefined ? "-" : `${list.next}.`;
    if (list?.next !== undefined) list.next++;
    this.#write(`${indent}${marker} `);
    this.#isAtStart = true;
  }

  endItem(): void {
    this.#isAtStart = false;
  }

  row(): void {
    this.#cells = 0;
  }

  /** The line end before a row stays until its first sign, which is a tab if its first cell is empty. */
  cell(): void {
    this.#hasSpace = false;
    if (this.#cells++ > 0) this.#write("\t");
    this.#isAtStart = true;
  }

  endCell(): void {
    if (!this.#isAtStart) this.#newlines = 0;
    this.#isAtStart = false;
  }

  openPre(): void {
    this.#pre++;
  }

  closePre(): void {
    this.#pre--;
  }

  openLink(): void {
    this.#links.push(this.#parts.length);
  }

  closeLink(url: string | undefined): void {
    const start = this.#links.pop() ?? 0;
    if (url === undefined) return;
    // Only the last parts are compared: a link around a whole page is not read again.
    const isItself =
      this.#parts.length - start <= MAX_LINK_PARTS && isSame(this.#parts.slice(start).join("").trim(), url);
    if (!isItself) this.#write(this.#parts.length === start ? url : ` (${url})`);
  }

  finish(): string {
    return this.#parts
      .join("")
      .replaceAll("\u00a0", " ")
      .replace(/^[ \n]+/, "")
      .trimEnd();
  }

  #write(text: string): void {
    if (!this.#isEmpty) {
      if (this.#newlines > 0) this.#parts.push("\n".repeat(this.#newlines));
      else if (this.#hasSpace && !/\s$/.test(this.#parts.at(-1) ?? "")) this.#parts.push(" ");
    }
    this.#parts.push(text);
    this.#newlines = 0;
    this.#hasSpace = false;
    this.#isEmpty = false;
    this.#isAtStart = false;
  }
}

const MAX_INDENT = 8;
const MAX_LINK_PARTS = 200;

/** Tells whether a link's text is its address already. */
function isSame(text: string, url: string): boolean {
  const bare = (address: string): string => address.replace(/^(https?:\/\/|mailto:|tel:)/, "").replace(/\/$/, "");
  return bare(text) === bare(url);
}
