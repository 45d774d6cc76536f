import { Element } from "domhandler";
import { type AnyNode, elementsBelow, isElement, type ParentNode, setChildren } from "./dom.ts";

const headings = ["h1", "h2", "h3", "h4", "h5", "h6"] as const;

/** A link in a link ends the outer one, as in a browser. */
export function partLinks(root: ParentNode): void {
  for (const link of elementsBelow(root, "a")) {
    const { children } = link;
    const end = children.findIndex((child) => isElement(child) && (child.name === "a" || elementsBelow(child, "a").length > 0));
    if (end < 0) continue;
    const { href } = link.attribs;
    const before = children.slice(0, end);
    link.name = "span";
    link.attribs = {};
    setChildren(link, [...(href === undefined ? before : [linkAround(before, href)]), ...children.slice(end)]);
  }
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
