import type { CheerioAPI } from "cheerio/slim";
import { Text } from "domhandler";
import { isElement, isParent, type ParentNode, setChildren, textOf } from "./dom.ts";

/** Real pages stay below 100; the steps that follow recurse. */
const MAX_DEPTH = 150;

/** Makes a parsed page safe to recurse into: what lies deeper than MAX_DEPTH becomes its text. */
export function boundTree($: CheerioAPI): void {
  bound($.root()[0] as ParentNode, 0);
}

function bound(parent: ParentNode, depth: number): void {
  if (depth < MAX_DEPTH) {
    for (const child of parent.children) if (isParent(child)) bound(child, depth + 1);
  } else if (parent.children.length > 0) {
    setChildren(parent, isElement(parent) && unseen.has(parent.name) ? [] : [new Text(textOf(parent))]);
  }
}

const unseen: ReadonlySet<string> = new Set(["script", "style", "noscript", "template"]);
