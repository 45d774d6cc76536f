import { Element } from "domhandler";
import { type AnyNode, elementsBelow, type ParentNode, setChildren } from "./dom.ts";

const headings = ["h1", "h2", "h3", "h4", "h5", "h6"] as const;

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
