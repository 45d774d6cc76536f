import { type AnyNode, type Element, isElement, isText } from "../tree/dom.ts";
import { blockNames, voidNames } from "../tree/element-names.ts";

/** White space around an inline element's marks: markdown takes no marks with white space inside. */
export interface Edges {
  readonly leading: string;
  readonly trailing: string;
}

export const NO_EDGES: Edges = { leading: "", trailing: "" };
const meaningfulWhenBlank: ReadonlySet<string> = new Set(["table", "td", "th"]);

/** Tells whether a node is invisible. */
export function isBlank(node: AnyNode): boolean {
  if (isText(node)) return !/\S/.test(node.data);
  return (
    !isElement(node) ||
    (!voidNames.has(node.name) && !meaningfulWhenBlank.has(node.name) && node.children.every(isBlank))
  );
}

/**
 * The white space at both ends of an inline element's text, but for a space that stands beside the element already. All
 * of it leads where there is nothing else.
 */
export function edgesOf(element: Element): Edges {
  const start = spaceAt(element, true);
  const end = start.isAll ? { space: "" } : spaceAt(element, false);
  if (start.space === "" && end.space === "") return NO_EDGES;
  const leading =
    /^[ \t\r\n]/.test(start.space) && isBesideSpace(element.prev, false)
      ? start.space.replace(/^[ \t\r\n]+/, "")
      : start.space;
  const trailing =
    /[ \t\r\n]$/.test(end.space) && isBesideSpace(element.next, true)
      ? end.space.replace(/[ \t\r\n]+$/, "")
      : end.space;
  return { leading, trailing };
}

/** The white space that a node's text begins or ends with, and whether that is all of it. */
function spaceAt(node: AnyNode, isStart: boolean): { readonly space: string; readonly isAll: boolean } {
  if (isText(node)) {
    const { data } = node;
    const rest = isStart ? data.trimStart() : data.trimEnd();
    return { space: isStart ? data.slice(0, data.length - rest.length) : data.slice(rest.length), isAll: rest === "" };
  }
  let space = "";
  const children = isElement(node) ? node.children : [];
  for (let i = 0; i < children.length; i++) {
    const found = spaceAt(children[isStart ? i : children.length - 1 - i] as AnyNode, isStart);
    space = isStart ? space + found.space : found.space + space;
    if (!found.isAll) return { space, isAll: false };
  }
  return { space, isAll: true };
}

/** Tells whether the text of a sibling begins, or ends, with a space. */
function isBesideSpace(sibling: AnyNode | null, isStart: boolean): boolean {
  if (sibling === null || (isElement(sibling) && blockNames.has(sibling.name))) return false;
  const { space } = spaceAt(sibling, isStart);
  return isStart ? space.startsWith(" ") : space.endsWith(" ");
}
