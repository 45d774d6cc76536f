import type { CheerioAPI } from "cheerio/slim";
import { load } from "cheerio/slim";
import { type ChildNode, DomHandler } from "domhandler";
import { Parser } from "htmlparser2";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { type Element, isElement, type ParentNode } from "./dom.ts";
import { addedAround, endedByBegin, endedByEnd } from "./open-elements.ts";
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
 * Tags begin and end what they do in a browser, as open-elements.ts tells.
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

  /** Whether what the parser ends stays open. It then knows nothing of it. */
  isKeeping = false;

  /** The elements that are open, the outermost first, behind the document. */
  get open(): readonly ParentNode[] {
    return this.tagStack;
  }

  /** Begins an element that a browser adds. The parser knows nothing of it: it ends with what is around it. */
  addOpen(name: string): void {
    this.onopentag(name, {});
    this.#added.add(this.tagStack.at(-1) as ParentNode);
  }

  /** Ends the innermost element if it was added; whether it was. */
  closeAdded(): boolean {
    const top = this.tagStack.at(-1);
    if (top === undefined || !this.#added.delete(top)) return false;
    super.onclosetag();
    return true;
  }

  /** An element of which a page has one. The attributes of a further tag become its own, where it has none of that name. */
  override onopentag(name: string, attribs: Record<string, string>): void {
    this.#merged = onceNames.has(name) ? (this.tagStack.find((element) => isElement(element) && element.name === name) as Element | undefined) : undefined;
    if (this.#merged === undefined) super.onopentag(name, attribs);
    else this.#merged.attribs = { ...attribs, ...this.#merged.attribs };
  }

  override onclosetag(): void {
    if (this.isKeeping) this.#added.add(this.tagStack.findLast((element) => !this.#added.has(element)) as ParentNode);
    else if (this.#merged === undefined) {
      while (this.closeAdded());
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
    this.#isBeyond = false; // of the tag before, for what ends here
    this.#isMerged = false;
    if (this.#beyond === 0) {
      for (let ended = endedByBegin(name, open); ended !== undefined; ended = endedByBegin(name, open)) this.#close(ended);
      for (let around = addedAround(name, open); around !== undefined; around = addedAround(name, open)) this.#handler.addOpen(around);
    }
    this.#isBeyond = open.length > MAX_OPEN;
    this.#isMerged = onceNames.has(name) && open.some((element) => isElement(element) && element.name === name);
    this.startIndex = start - 1; // behind an end tag with white space the parser's own lies before that
    this.#handler.isKeeping = isRow(open.at(-1)); // the parser ends a head at a cell
    super.onopentagname(start, end);
    this.#handler.isKeeping = false;
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
    const ended = endedByEnd(name, this.#handler.open);
    if (ended !== undefined) this.#close(ended);
    else if (name === "p" || name === "br") super.onclosetag(start, end); // browsers add the begin
  }

  /** With all that it holds. The parser reads the name of what it ends from the begin tag; of elements that were added it knows nothing. */
  #close(element: Element): void {
    const { open } = this.#handler;
    const { startIndex: at } = this;
    const index = open.indexOf(element);
    while (open.length > index) {
      const { name, startIndex } = open.at(-1) as Element;
      if (this.#handler.closeAdded()) continue;
      const { length } = open;
      const start = (startIndex ?? 0) + 1;
      super.onclosetag(start, start + name.length);
      if (open.length === length) throw new Error(`the parser does not end the ${name} element that begins at ${startIndex}`);
    }
    this.startIndex = at;
  }

  protected override isVoidElement(name: string): boolean {
    this.#isVoid = super.isVoidElement(name);
    return this.#isVoid || this.#isBeyond || this.#isMerged;
  }
}

const isRow = (element: ParentNode | undefined): boolean => element !== undefined && isElement(element) && element.name === "tr";

/** Of which a page has one each. What follows their end tags belongs to them, too. */
const onceNames: ReadonlySet<string> = new Set(["html", "body"]);
