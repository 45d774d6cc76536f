import { Text } from "domhandler";
import { type AnyNode, elementsBelow, isElement, isText, type ParentNode, setChildren } from "../tree/dom.ts";
import { isBlock, isInAddress, nodesBefore } from "./escape-text.ts";
import { isBlank } from "./text-edges.ts";

/**
 * Puts a space between inline code and a bare address or other code right before it. These would go on with its first
 * backtick, and what it holds would be markdown.
 */
export function partCode(root: ParentNode): void {
  const codes = elementsBelow(root, "code").filter(
    (code) => !isBlank(code) && (isInAddress(code) || isBehindCode(code)),
  );
  const parted: ReadonlySet<AnyNode> = new Set(codes);
  for (const parent of new Set(codes.map((code) => code.parent))) {
    if (parent === null) continue;
    setChildren(
      parent,
      parent.children.flatMap((child): AnyNode[] => (parted.has(child) ? [new Text(" "), child] : [child])),
    );
  }
}

/** Tells whether code stands right before a node of a line, with no part of a link between them. */
function isBehindCode(node: AnyNode): boolean {
  for (const before of nodesBefore(node, (around) => isBlock(around) || isLink(around))) {
    if (isBlock(before) || isLink(before) || (isText(before) && before.data !== "")) return false;
    if (isElement(before) && before.name === "code" && !isBlank(before)) return true;
  }
  return false;
}

const isLink = (node: AnyNode): boolean => isElement(node) && node.name === "a";
