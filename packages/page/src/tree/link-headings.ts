import { Element } from "domhandler";
import { type AnyNode, elementsBelow, isElement, type ParentNode, setChildren } from "./dom.ts";

const headings = ["h1", "h2", "h3", "h4", "h5", "h6"] as const;

/**
 * A link in a link ends the outer one, as in a browser: it is around what stands before, in each element that holds the
 * inner one.
 */
export function partLinks(root: ParentNode): void {
  for (const link of elementsBelow(root, "a")) {
    if (!holdsLink(link)) continue;
    const { href } = link.attribs;
    link.name = "span";
    link.attribs = {};
    if (href !== undefined) linkBefore(link, href);
  }
}

const isLink = (node: AnyNode): boolean => isElement(node) && node.name === "a";
const holdsLink = (node: AnyNode): boolean => isElement(node) && elementsBelow(node, "a").length > 0;

function linkBefore(parent: Element, href: string): void {
  const end = parent.children.findIndex((child) => isLink(child) || holdsLink(child));
  const inner = parent.children[end];
  if (inner === undefined) return;
  if (isElement(inner) && !isLink(inner)) linkBefore(inner, href);
  if (end > 0) setChildren(parent, [linkAround(parent.children.slice(0, end), href), ...parent.children.slice(end)]);
}

/** A link around a card with a heading becomes a link in the heading: markdown has no link around blocks. */
export function linkHeadings(root: ParentNode): void {
  for (const link of elementsBelow(root, "a")) {
    const [heading] = elementsBelow(link, ...headings);
    const { href } = link.attribs;
    if (heading === undefined || href === undefined) continue;
    setChildren(heading, [linkAround(heading.children, href)]);
    link.name = "div";
    link.attribs = {};
  }
}

function linkAround(children: readonly AnyNode[], href: string): Element {
  const link = new Element("a", { href }, []);
  setChildren(link, children);
  return link;
}
