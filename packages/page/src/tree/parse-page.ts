import type { CheerioAPI } from "cheerio/slim";
import { load } from "cheerio/slim";
import { type ChildNode, DomHandler } from "domhandler";
import { Parser } from "htmlparser2";
import { PageTooComplexError } from "../page-too-complex-error.ts";

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
 * @throws {PageTooComplexError} as soon as there are more than `maxNodes`
 */
export function parsePage(html: string, { maxNodes = MAX_NODES }: ParsePageOptions = {}): CheerioAPI {
  const handler = new CountingHandler(maxNodes);
  new ShallowParser(handler).end(html);
  return load(handler.root);
}

class CountingHandler extends DomHandler {
  #left: number;
  readonly #maxNodes: number;

  constructor(maxNodes: number) {
    super();
    this.#maxNodes = maxNodes;
    this.#left = maxNodes;
  }

  /** How many elements are open, the document included. */
  get open(): number {
    return this.tagStack.length;
  }

  protected override addNode(node: ChildNode): void {
    if (--this.#left < 0) throw new PageTooComplexError(`more than ${this.#maxNodes} nodes`);
    super.addNode(node);
  }
}

/** Has no more than MAX_OPEN elements open: a further one is taken for one that holds nothing, and its end is passed by. */
class ShallowParser extends Parser {
  readonly #handler: CountingHandler;
  /** How many elements were begun beyond, and have not ended. */
  #beyond = 0;
  /** Of the tag that is read now. */
  #isBeyond = false;
  #isVoid = false;

  constructor(handler: CountingHandler) {
    super(handler);
    this.#handler = handler;
  }

  override onopentagname(start: number, end: number): void {
    this.#isBeyond = this.#handler.open > MAX_OPEN;
    super.onopentagname(start, end);
    if (this.#isBeyond && !this.#isVoid) this.#beyond++;
  }

  override onclosetag(start: number, end: number): void {
    this.#isBeyond = false;
    if (this.#beyond > 0) this.#beyond--;
    else super.onclosetag(start, end);
  }

  protected override isVoidElement(name: string): boolean {
    this.#isVoid = super.isVoidElement(name);
    return this.#isVoid || this.#isBeyond;
  }
}
