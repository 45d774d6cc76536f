import { type CheerioAPI, load } from "cheerio/slim";
import { Parser, html as standard, type Token } from "parse5";
import type { Element, ParentNode } from "./dom.ts";
import { readTokens } from "./html-tokens.ts";
import { type PageAdapter, type PageNodes, pageNodes } from "./page-nodes.ts";

/** Real pages stay below 100. The parser's time grows with the depth for each tag. */
const MAX_OPEN = 400;
const MAX_NODES = 200_000;
/**
 * Marks that nobody closes are begun again in each block behind. More of them in one another are not, so that the tree
 * stays in proportion to the page.
 */
const MAX_CARRIED = 8;

/** How much of a page is parsed. */
export interface ParsePageOptions {
  /** @default 200_000 */
  readonly maxNodes?: number;
}

/**
 * Parses a page into the tree that a browser makes of it, but for fallbacks: what `noscript` and its like hold are
 * elements here, and frames leave the page its body. Within MAX_OPEN elements, others stand side by side, and each
 * before what it holds: their text keeps its order. There are no comments in the tree.
 * @throws {PageTooComplexError} as soon as there are more than `maxNodes`
 */
export function parsePage(html: string, { maxNodes = MAX_NODES }: ParsePageOptions = {}): CheerioAPI {
  const parser = new ShallowParser(pageNodes(maxNodes));
  readTokens(html.includes("\r") ? html.replaceAll(/\r\n?/g, "\n") : html, parser);
  return load(parser.document);
}

/**
 * Has no more than MAX_OPEN elements open: a further one is taken for one that holds nothing, and its end is passed by.
 */
class ShallowParser extends Parser<PageNodes> {
  /** How many elements were begun beyond, and have not ended. */
  #beyond = 0;

  /** The fallback that is open. What it holds ends with it, whatever it is: to browsers that need none that is text. */
  #fallback: { readonly name: string; readonly templates: number } | undefined;

  readonly #nodes: PageAdapter;

  constructor(nodes: PageAdapter) {
    super({ treeAdapter: nodes, scriptingEnabled: false });
    this.#nodes = nodes;
  }

  override _adoptNodes(from: ParentNode, to: ParentNode): void {
    this.#nodes.moveChildren(from, to);
  }

  override onStartTag(token: Token.TagToken): void {
    if (token.tagName === "frameset") super.onStartTag({ ...token, ...body });
    else if (fallbackNames.has(token.tagName) && !this.currentNotInHTML) this.#beginFallback(token);
    else if (this.openElements.stackTop < MAX_OPEN || endsSoon.has(token.tagName)) super.onStartTag(token);
    else {
      this.#beyond++;
      this._appendElement(token, standard.NS.HTML);
    }
    const { entries } = this.activeFormattingElements;
    if (entries.length > MAX_CARRIED) entries.pop();
  }

  override onEndTag(token: Token.TagToken): void {
    const { tmplCount } = this.openElements;
    if (token.tagName === this.#fallback?.name) {
      this.#fallback = undefined;
      super.onEndTag({ ...token, ...template });
    } else if (tmplCount === this.#fallback?.templates && token.tagName === "template") return;
    else if (this.#beyond === 0 || endsSoon.has(token.tagName)) super.onEndTag(token);
    else this.#beyond--;
  }

  /**
   * In a head, too, where a browser without scripts would end the head at the first word. The parser takes it for a
   * template, which holds anything anywhere.
   */
  #beginFallback(token: Token.TagToken): void {
    if (this.#fallback !== undefined) return;
    super.onStartTag({ ...token, ...template });
    const { current, tmplCount } = this.openElements;
    (current as Element).name = "noscript";
    this.#fallback = { name: token.tagName, templates: tmplCount };
  }
}

/** What is for browsers without scripts, frames or plugins. */
const fallbackNames: ReadonlySet<string> = new Set(["noembed", "noframes", "noscript"]);
const body = { tagName: standard.TAG_NAMES.BODY, tagID: standard.TAG_ID.BODY } as const;
const template = { tagName: standard.TAG_NAMES.TEMPLATE, tagID: standard.TAG_ID.TEMPLATE } as const;

/** What holds nothing, or text alone. */
const endsSoon: ReadonlySet<string> = new Set([
  ...["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"],
  ...["iframe", "script", "style", "textarea", "title", "xmp"],
]);
