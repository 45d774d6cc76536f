import type { CheerioAPI } from "cheerio/slim";
import { load } from "cheerio/slim";
import { DomHandler } from "domhandler";
import { Parser } from "htmlparser2";
import { PageTooComplexError } from "../page-too-complex-error.ts";

/** Real pages stay below 100. The parser's time grows with the square of the depth, and is about half a second of the processor here. */
const MAX_OPEN = 50_000;

/**
 * Parses a page into the tree that cheerio makes of it.
 * @throws {PageTooComplexError} as soon as more than MAX_OPEN elements are open at once
 */
export function parsePage(html: string): CheerioAPI {
  const handler = new ShallowHandler();
  new Parser(handler).end(html);
  return load(handler.root);
}

class ShallowHandler extends DomHandler {
  #open = 0;

  override onopentag(name: string, attributes: Readonly<Record<string, string>>): void {
    if (++this.#open > MAX_OPEN) throw new PageTooComplexError(`more than ${MAX_OPEN} elements in each other`);
    super.onopentag(name, attributes);
  }

  override onclosetag(): void {
    this.#open--;
    super.onclosetag();
  }
}
