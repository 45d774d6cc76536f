import type { CheerioAPI } from "cheerio/slim";
import { load } from "cheerio/slim";
import { type ChildNode, DomHandler } from "domhandler";
import { Parser } from "htmlparser2";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { type Element, isElement, type ParentNode } from "./dom.ts";
import { beginsQuirky } from "./quirks.ts";

/** Real pages stay below 100. The parser's time grows with the depth for each tag. */
const MAX_OPEN = 400;
const MAX_NODES = 200_000;

/** How much of a page is parsed. */
export interface ParsePageOptions {
  /** @default 200_000 */
  readonly maxNodes?: number;
}

/**
 * Parses a page into the tree that cheerio makes of it. Within MAX_OPEN elements, others stand side by side, and each before what it holds: their text keeps its order.
 * Cells, rows and pictures that nobody has closed end where a browser ends them.
 * @throws {PageTooComplexError} as soon as there are more than `maxNodes`
 */
export function parsePage(html: string, { maxNodes = MAX_NODES }: ParsePageOptions = {}): CheerioAPI {
  const handler = new CountingHandler(maxNodes);
  new ShallowParser(handler, html).end(html);
  return load(handler.root, { quirksMode: beginsQuirky(handler.root.children) });
}

class CountingHandler extends DomHandler {
  #left: number;
  readonly #maxNodes: number;

  constructor(maxNodes: number) {
    super(undefined, { withStartIndices: true });
    this.#maxNodes = maxNodes;
    this.#left = maxNodes;
  }

  /** The elements that are open, the outermost first, behind the document. */
  get open(): readonly ParentNode[] {
    return this.tagStack;
  }

  protected override addNode(node: ChildNode): void {
    if (--this.#left < 0) throw new PageTooComplexError(`more than ${this.#maxNodes} nodes`);
    super.addNode(node);
  }
}

/** Has no more than MAX_OPEN elements open: a further one is taken for one that holds nothing, and its end is passed by. */
class ShallowParser extends Parser {
  readonly #handler: CountingHandler;
  readonly #html: string;
  /** How many elements were begun beyond, and have not ended. */
  #beyond = 0;
  /** Of the tag that is read now. */
  #isBeyond = false;
  #isVoid = false;

  constructor(handler: CountingHandler, html: string) {
    super(handler);
    this.#handler = handler;
    this.#html = html;
  }

  override onopentagname(start: number, end: number): void {
    if (this.#beyond === 0) {
      const ended = endedBy(this.#html.slice(start, end).toLowerCase(), this.#handler.open);
      if (ended !== undefined) this.#close(ended);
    }
    this.#isBeyond = this.#handler.open.length > MAX_OPEN;
    super.onopentagname(start, end);
    if (this.#isBeyond && !this.#isVoid) this.#beyond++;
  }

  override onclosetag(start: number, end: number): void {
    this.#isBeyond = false;
    if (this.#beyond > 0) this.#beyond--;
    else super.onclosetag(start, end);
  }

  /** As its end tag would: the parser reads the name there from the begin tag. */
  #close({ name, startIndex }: Element): void {
    const { startIndex: at } = this;
    const start = (startIndex ?? 0) + 1;
    super.onclosetag(start, start + name.length);
    this.startIndex = at;
  }

  protected override isVoidElement(name: string): boolean {
    this.#isVoid = super.isVoidElement(name);
    return this.#isVoid || this.#isBeyond;
  }
}

/**
 * The outermost open element that a begin tag ends where a browser ends it, and the parser does not.
 * @see https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-intd and #parsing-main-inforeign
 */
function endedBy(name: string, open: readonly ParentNode[]): Element | undefined {
  const parts = endedParts.get(name);
  if (parts !== undefined) return partOfTable(parts, open);
  return htmlNames.has(name) ? foreignElement(open) : undefined;
}

function partOfTable(names: ReadonlySet<string>, open: readonly ParentNode[]): Element | undefined {
  let outermost: Element | undefined;
  for (let i = open.length - 1; i >= 0; i--) {
    const element = open[i] as ParentNode;
    if (!isElement(element) || element.name === "template") return undefined; // a cell beside any table is none
    if (element.name === "table") return outermost;
    if (names.has(element.name)) outermost = element;
  }
  return undefined;
}

/** The picture or formula that is open, unless it is left by an element for text. */
function foreignElement(open: readonly ParentNode[]): Element | undefined {
  for (let i = open.length - 1; i >= 0; i--) {
    const element = open[i] as ParentNode;
    if (!isElement(element) || htmlNames.has(element.name) || textHolders.has(element.name)) return undefined;
    if (element.name === "svg" || element.name === "math") return element;
  }
  return undefined;
}

const cells = ["td", "th"];
const sections = ["caption", "colgroup", "tbody", "tfoot", "thead"];
const endedParts: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...cells.map((name) => [name, new Set([...cells, "caption"])] as const),
  ["tr", new Set([...cells, "tr", "caption", "colgroup"])] as const,
  ...sections.map((name) => [name, new Set([...cells, "tr", ...sections])] as const),
]);
/** What ends a picture or a formula, as it can be in none. */
const htmlNames: ReadonlySet<string> = new Set([
  ...["b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr"],
  ...["i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt"],
  ...["u", "ul", "var"],
]);
/** What holds HTML in a picture or a formula. */
const textHolders: ReadonlySet<string> = new Set(["annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title"]);
