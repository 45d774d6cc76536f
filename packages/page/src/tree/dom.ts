import { type AnyNode, type Element, hasChildren, isTag, isText, type ParentNode } from "domhandler";

export type { AnyNode, Element, ParentNode };
export { hasChildren as isParent, isTag as isElement, isText };

/** The nodes below `root` in document order. Neither recursive nor quadratic, as cheerio's own searches are on a deep or wide page. */
export function* nodesBelow(root: ParentNode): Generator<AnyNode> {
  const open: AnyNode[] = root.children.toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    if (hasChildren(node)) for (let i = node.children.length - 1; i >= 0; i--) open.push(node.children[i] as AnyNode);
  }
}

/** The elements below `root` of one of these names, in document order. A list, so that the tree may be changed while it is gone through. */
export function elementsBelow(root: ParentNode, ...names: readonly string[]): Element[] {
  const found: Element[] = [];
  for (const node of nodesBelow(root)) if (isTag(node) && (names.length === 0 || names.includes(node.name))) found.push(node);
  return found;
}

export function textOf(root: AnyNode): string {
  if (!hasChildren(root)) return isText(root) ? root.data : "";
  const parts: string[] = [];
  for (const node of nodesBelow(root)) if (isText(node)) parts.push(node.data);
  return parts.join("");
}

/** The elements around `element`, the nearest first. */
export function* ancestorsOf(element: Element): Generator<Element> {
  for (let { parent } = element; parent !== null && isTag(parent); parent = parent.parent) yield parent;
}

/** Makes `children` the children of `parent`, in one pass: cheerio's `remove` searches the siblings for each node again. */
export function setChildren(parent: ParentNode, children: readonly AnyNode[]): void {
  parent.children = children as typeof parent.children;
  children.forEach((child, i) => {
    const linked = child as (typeof parent.children)[number];
    linked.parent = parent;
    linked.prev = parent.children[i - 1] ?? null;
    linked.next = parent.children[i + 1] ?? null;
  });
}
