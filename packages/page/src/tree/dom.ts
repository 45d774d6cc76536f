import { type AnyNode, type Element, isTag, isText, type ParentNode } from "domhandler";

export type { AnyNode, Element, ParentNode };
export { isTag as isElement, isText };

export const isParent = (node: AnyNode): node is ParentNode => (node as Partial<ParentNode>).children !== undefined;

/**
 * The nodes below `root` in document order. Neither recursive nor quadratic, as cheerio's own searches are on a deep or
 * wide page.
 */
export function* nodesBelow(root: ParentNode): Generator<AnyNode> {
  const open: AnyNode[] = root.children.toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    if (isParent(node)) for (let i = node.children.length - 1; i >= 0; i--) open.push(node.children[i] as AnyNode);
  }
}

/**
 * The elements below `root` of one of these names, in document order. A list, so that the tree may be changed while it
 * is gone through. It recurses: parsePage bounds the depth.
 */
export function elementsBelow(root: ParentNode, ...names: readonly string[]): Element[] {
  const found: Element[] = [];
  addElements(root, names, found);
  return found;
}

function addElements({ children }: ParentNode, names: readonly string[], found: Element[]): void {
  for (let i = 0; i < children.length; i++) {
    const node = children[i] as AnyNode;
    // Most nodes are texts.
    if (node.type === "text") continue;
    if (isTag(node)) {
      if (names.length === 0 || names.includes(node.name)) found.push(node);
      if (node.children.length > 0) addElements(node, names, found);
    } else if (isParent(node)) addElements(node, names, found);
  }
}

/** Elements by their name, those of each in document order. */
export type NamedElements = (name: string) => readonly Element[];

/**
 * Goes through the elements below `root` once, for all who look for some of them. It does not follow later changes of
 * the tree.
 */
export function namedElements(root: ParentNode): NamedElements {
  const byName = new Map<string, Element[]>();
  for (const element of elementsBelow(root)) {
    const known = byName.get(element.name);
    if (known === undefined) byName.set(element.name, [element]);
    else known.push(element);
  }
  return (name) => byName.get(name) ?? [];
}

export function textOf(root: AnyNode): string {
  if (!isParent(root)) return isText(root) ? root.data : "";
  const parts: string[] = [];
  for (const node of nodesBelow(root)) if (isText(node)) parts.push(node.data);
  return parts.join("");
}

/** The elements around `element`, the nearest first. */
export function* ancestorsOf(element: Element): Generator<Element> {
  for (let { parent } = element; parent !== null && isTag(parent); parent = parent.parent) yield parent;
}

export function isInside(node: AnyNode, element: Element): boolean {
  for (let { parent } = node; parent !== null; parent = parent.parent) if (parent === element) return true;
  return false;
}

/**
 * Makes `children` the children of `parent`, in one pass: cheerio's `remove` searches the siblings for each node again.
 */
export function setChildren(parent: ParentNode, children: readonly AnyNode[]): void {
  parent.children = children as typeof parent.children;
  children.forEach((child, i) => {
    const linked = child as (typeof parent.children)[number];
    linked.parent = parent;
    linked.prev = parent.children[i - 1] ?? null;
    linked.next = parent.children[i + 1] ?? null;
  });
}

/**
 * The names in a `class` attribute. Other white space than HTML's is part of a name.
 * @see https://infra.spec.whatwg.org/#ascii-whitespace
 */
export const classNamesIn = (list: string): readonly string[] => list.split(/[ \t\n\f\r]+/);
