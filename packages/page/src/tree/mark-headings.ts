import { ancestorsOf, type Element, elementsBelow, type ParentNode, textOf } from "./dom.ts";

/** What is longer is no heading, whatever its role says. In characters. */
const MAX_HEADING = 300;
const LOWEST_RANK = 6;
/** The rank of a heading that does not say it. @see https://w3c.github.io/aria/#heading */
const USUAL_RANK = 2;

/** Makes headings of the elements that play one. */
export function markHeadings(root: ParentNode): void {
  for (const element of elementsBelow(root)) if (element.attribs["role"] === "heading" && mayBeHeading(element)) element.name = `h${rankOf(element)}`;
}

function mayBeHeading(element: Element): boolean {
  if (!plain.has(element.name) || textOf(element).trim().length > MAX_HEADING) return false;
  return ![...elementsBelow(element), ...ancestorsOf(element)].some(({ name }) => /^(?:h[1-6]|pre)$/.test(name));
}

function rankOf({ attribs }: Element): number {
  const level = Number(attribs["aria-level"]);
  return Number.isInteger(level) && level >= 1 ? Math.min(level, LOWEST_RANK) : USUAL_RANK;
}

/** Elements that mean nothing else. */
const plain: ReadonlySet<string> = new Set(["b", "center", "div", "font", "header", "label", "legend", "p", "section", "span", "strong", "summary"]);
