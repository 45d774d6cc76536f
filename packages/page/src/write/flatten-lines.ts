import { Text } from "domhandler";
import { type AnyNode, elementsBelow, isElement, type ParentNode, setChildren, textOf } from "../tree/dom.ts";
import { isBlock } from "./escape-text.ts";

/** What markdown writes on one line. */
const lineNames = ["a", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "note-text"] as const;

/**
 * Makes the blocks within what is one line of markdown words of it, and blocks of code inline code. Call it after
 * `markCode`.
 */
export function flattenLines(root: ParentNode): void {
  for (const line of elementsBelow(root, ...lineNames))
    if (line.name !== "a" || line.attribs["href"] !== undefined) flatten(line);
}

function flatten(parent: ParentNode): void {
  if (parent.children.every((child) => !isElement(child))) return;
  setChildren(
    parent,
    parent.children.flatMap((child): AnyNode[] => {
      if (!isElement(child)) return [child];
      const isCode = child.name === "pre";
      if (isCode) setChildren(child, [new Text(textOf(child))]);
      else flatten(child);
      if (!isBlock(child)) return [child];
      if (child.name !== "tex-math") child.name = isCode ? "code" : "span";
      child.attribs = {};
      return [new Text(" "), child, new Text(" ")];
    }),
  );
}
