import { Element } from "domhandler";
import { ancestorsOf, elementsBelow, type ParentNode, setChildren, textOf } from "./dom.ts";
import { writeFormula } from "./mark-math.ts";
import { nameByRole, nativeParts } from "./table-roles.ts";

/** What is longer is no heading, whatever its role says. In characters. */
const MAX_HEADING = 300;
const LOWEST_RANK = 6;
/** The rank of a heading that does not say it. @see https://w3c.github.io/aria/#heading */
const USUAL_RANK = 2;

/**
 * Makes of elements what they mean: headings and tables by their roles, and TeX of formulas that have none. One walk
 * for all. Call it once what sheets hide is gone: they speak of elements by the names that these have until then.
 */
export function markMeanings(root: ParentNode): void {
  for (const element of elementsBelow(root)) {
    if (element.name === "math") writeFormula(element);
    const { role } = element.attribs;
    if (role === undefined) continue;
    if (role === "heading" && mayBeHeading(element)) element.name = `h${rankOf(element)}`;
    const part = nameByRole.get(role);
    if (part !== undefined && !nativeParts.has(element.name) && isInPlace(element, part)) becomePart(element, part);
  }
}

/** Tells whether a part of a table lies in an element that may hold it. What lies around it has its name by then. */
function isInPlace(element: Element, part: string): boolean {
  if (part === "table") return true;
  for (const { name } of ancestorsOf(element)) {
    if (name === "tr") return part === "td" || part === "th";
    if (name === "table") return part !== "td" && part !== "th";
    if (name === "td" || name === "th") return false;
  }
  return false;
}

/** What means something by itself, as a link does, comes to stand in the part. */
function becomePart(element: Element, part: string): void {
  const { name, attribs, children } = element;
  const { "aria-colspan": colspan = "", "aria-rowspan": rowspan = "" } = attribs;
  if (!holderNames.has(name)) {
    const inner = new Element(name, attribs, []);
    setChildren(inner, children);
    setChildren(element, [inner]);
  }
  element.name = part;
  element.attribs = { ...(colspan !== "" && { colspan }), ...(rowspan !== "" && { rowspan }) };
}

/** Elements that mean nothing but that they hold others. */
const holderNames: ReadonlySet<string> = new Set([
  "article",
  "dd",
  "div",
  "dl",
  "dt",
  "header",
  "li",
  "ol",
  "p",
  "section",
  "span",
  "ul",
]);

function mayBeHeading(element: Element): boolean {
  if (!plain.has(element.name) || textOf(element).trim().length > MAX_HEADING) return false;
  return ![...elementsBelow(element), ...ancestorsOf(element)].some(({ name }) => /^(?:h[1-6]|pre)$/.test(name));
}

function rankOf({ attribs }: Element): number {
  const level = Number(attribs["aria-level"]);
  return Number.isInteger(level) && level >= 1 ? Math.min(level, LOWEST_RANK) : USUAL_RANK;
}

/** Elements that mean nothing else. */
const plain: ReadonlySet<string> = new Set([
  "b",
  "center",
  "div",
  "font",
  "header",
  "label",
  "legend",
  "p",
  "section",
  "span",
  "strong",
  "summary",
]);
