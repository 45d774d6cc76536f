import type { CheerioAPI } from "cheerio/slim";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { isElement, isParent, type ParentNode, textOf } from "./dom.ts";

/** Real pages stay below 100; the steps that follow recurse. */
const MAX_DEPTH = 150;
const MAX_NODES = 200_000;

/**
 * Makes a parsed page safe to recurse into: what lies deeper than MAX_DEPTH becomes its text.
 * @throws {PageTooComplexError} if the page has more than MAX_NODES nodes
 */
export function boundTree($: CheerioAPI): void {
  let count = 0;
  let level: ParentNode[] = [$.root()[0] as ParentNode];
  for (let depth = 0; level.length > 0; depth++) {
    const next: ParentNode[] = [];
    for (const parent of level) {
      count += parent.children.length;
      if (count > MAX_NODES) throw new PageTooComplexError(`more than ${MAX_NODES} nodes`);
      if (depth === MAX_DEPTH) $(parent).text(isElement(parent) && unseen.has(parent.name) ? "" : textOf(parent));
      else for (const child of parent.children) if (isParent(child)) next.push(child);
    }
    level = next;
  }
}

const unseen: ReadonlySet<string> = new Set(["script", "style", "noscript", "template"]);
