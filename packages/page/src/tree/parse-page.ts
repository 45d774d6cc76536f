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
 * Cells, rows and pictures that nobody has closed end where a browser ends them, and parts that a table lacks are added.
 * @throws {PageTooComplexError} as soon as there are more than `maxNodes`
 */
export function parsePage(html: string, { maxNodes = MAX_NODES }: ParsePageOptions = {}): CheerioAPI {
  const handler = new CountingHandler(maxNodes);
  new ShallowParser(handler, html).end(html);
  return load(handler.root, { quirksMode: beginsQuirky(handler.root.children) });
}

class CountingHandler extends DomHandler {
  readonly #added = new Set<ParentNode>();
  #left: number;
  /** What the tag that is read now gave its attributes to. */
  #merged: Element | undefined;
  readonly #maxNodes: number;

  constructor(maxNodes: number) {
    super(undefined, { withStartIndices: true });
    this.#maxNodes = maxNodes;
    this.#left = maxNodes;
  }

  isAdded(element: ParentNode): boolean {
    return this.#added.has(element);
  }

  /** The elements that are open, the outermost first, behind the document. */
  get open(): readonly ParentNode[] {
    return this.tagStack;
  }

  /** Begins an element that a browser adds. The parser knows nothing of it: it ends with what is around it. */
  addOpen(name: string): void {
    this.onopentag(name, {});
    this.#added.add(this.tagStack.at(-1) as ParentNode);
  }

  /** Ends elements that were added, from the innermost, up to one that was not, or up to `last`. */
  closeAdded(last?: ParentNode): void {
    for (let top = this.tagStack.at(-1); top !== undefined && this.#added.has(top); top = this.tagStack.at(-1)) {
      super.onclosetag();
      if (top === last) return;
    }
  }

  /** An element of which a page has one. The attributes of a further tag become its own, where it has none of that name. */
  override onopentag(name: string, attribs: Record<string, string>): void {
    this.#merged = onceNames.has(name) ? (this.tagStack.find((element) => isElement(element) && element.name === name) as Element | undefined) : undefined;
    if (this.#merged === undefined) super.onopentag(name, attribs);
    else this.#merged.attribs = { ...attribs, ...this.#merged.attribs };
  }

  override onclosetag(): void {
    if (this.#merged === undefined) {
      this.closeAdded();
      super.onclosetag();
    } else this.#merged = undefined;
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
  #isMerged = false;
  #isVoid = false;

  constructor(handler: CountingHandler, html: string) {
    super(handler);
    this.#handler = handler;
    this.#html = html;
  }

  override onopentagname(start: number, end: number): void {
    const { open } = this.#handler;
    const name = this.#html.slice(start, end).toLowerCase();
    if (this.#beyond === 0) {
      const ended = endedBy(name, open);
      if (ended !== undefined) this.#close(ended);
      for (let around = addedAround(name, open); around !== undefined; around = addedAround(name, open)) this.#handler.addOpen(around);
    }
    this.#isBeyond = open.length > MAX_OPEN;
    this.#isMerged = onceNames.has(name) && open.some((element) => isElement(element) && element.name === name);
    super.onopentagname(start, end);
    if (this.#isBeyond && !this.#isVoid) this.#beyond++;
  }

  override onclosetag(start: number, end: number): void {
    this.#isBeyond = false;
    this.#isMerged = false;
    if (this.#beyond > 0) {
      this.#beyond--;
      return;
    }
    const name = this.#html.slice(start, end).toLowerCase();
    if (onceNames.has(name)) return; // what follows belongs to it, too
    const parts = partNames.has(name) ? openParts(this.#handler.open) : undefined;
    if (parts === undefined) super.onclosetag(start, end);
    else {
      const ended = parts.find((part) => part.name === name);
      if (ended !== undefined) this.#close(ended);
    }
  }

  /** As its end tag would: the parser reads the name there from the begin tag. Of elements that were added it knows nothing. */
  #close(element: Element): void {
    const { open } = this.#handler;
    const { startIndex: at } = this;
    const known = open.slice(open.indexOf(element)).find((held) => !this.#handler.isAdded(held)) as Element | undefined;
    if (known !== undefined) {
      const start = (known.startIndex ?? 0) + 1;
      super.onclosetag(start, start + known.name.length);
    }
    if (known !== element) this.#handler.closeAdded(element);
    this.startIndex = at;
  }

  protected override isVoidElement(name: string): boolean {
    this.#isVoid = super.isVoidElement(name);
    return this.#isVoid || this.#isBeyond || this.#isMerged;
  }
}

/**
 * The outermost open element that a begin tag ends where a browser ends it, and the parser does not.
 * @see https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-intd and #parsing-main-inforeign
 */
function endedBy(name: string, open: readonly ParentNode[]): Element | undefined {
  const parts = endedParts.get(name);
  if (parts !== undefined) return openParts(open)?.findLast((part) => parts.has(part.name));
  return htmlNames.has(name) ? foreignElement(open) : undefined;
}

/** What is open in the innermost table, from within. Nothing beside a table is a part of one. */
function openParts(open: readonly ParentNode[]): readonly Element[] | undefined {
  const parts: Element[] = [];
  for (let i = open.length - 1; i >= 0; i--) {
    const element = open[i] as ParentNode;
    if (!isElement(element) || element.name === "template") return undefined;
    if (element.name === "table") return parts;
    parts.push(element);
  }
  return undefined;
}

/** The element that a browser adds around a part of a table, if the innermost open element lacks it. */
function addedAround(name: string, open: readonly ParentNode[]): string | undefined {
  const inside = addedIn.get(name);
  const top = open.at(-1);
  return inside !== undefined && top !== undefined && isElement(top) ? inside[top.name] : undefined;
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
  ["col", new Set([...cells, "tr", "caption", "tbody", "tfoot", "thead"])] as const,
  ...sections.map((name) => [name, new Set([...cells, "tr", ...sections])] as const),
]);
const partNames: ReadonlySet<string> = new Set(["tr", ...cells, ...sections]);
/** For each part of a table: what is added around it in which elements. */
const addedIn: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(
  Object.entries({
    ...Object.fromEntries(cells.map((name) => [name, { table: "tbody", tbody: "tr", thead: "tr", tfoot: "tr" }])),
    tr: { table: "tbody" },
    col: { table: "colgroup" },
  }),
);
/** Of which a page has one each. What follows their end tags belongs to them, too. */
const onceNames: ReadonlySet<string> = new Set(["html", "body"]);
/** What ends a picture or a formula, as it can be in none. */
const htmlNames: ReadonlySet<string> = new Set([
  ...["b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr"],
  ...["i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt"],
  ...["u", "ul", "var"],
]);
/** What holds HTML in a picture or a formula. */
const textHolders: ReadonlySet<string> = new Set(["annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title"]);
