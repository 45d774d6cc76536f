import { Text } from "domhandler";
import {
  ancestorsOf,
  type Element,
  elementsBelow,
  isElement,
  isInside,
  type ParentNode,
  setChildren,
  textOf,
} from "./dom.ts";

/** The elements that are notes, where a mark refers to them. */
export const noteNames: ReadonlySet<string> = new Set(["li", "p", "div", "aside"]);

/**
 * Names footnotes: a raised link to an item of a list becomes a `note-mark`, and the item a `note-text` of the same
 * number. Where either is missing, both stay as they are.
 */
export function markNotes(root: ParentNode): void {
  const links = elementsBelow(root, "a").filter(isMark);
  if (links.length === 0) return;
  const targets = new Map<string, Element>();
  for (const element of elementsBelow(root, ...noteNames)) {
    const { id } = element.attribs;
    if (id !== undefined && !targets.has(id)) targets.set(id, element);
  }
  const numbers = new Map<Element, number>();
  for (const link of links) {
    const target = targets.get((link.attribs["href"] ?? "").slice(1));
    if (target === undefined || isInside(link, target)) continue;
    const number = numbers.get(target) ?? numbers.size + 1;
    numbers.set(target, number);
    const holder = link.parent !== null && isElement(link.parent) && link.parent.name === "sup" ? link.parent : link;
    holder.name = "note-mark";
    holder.attribs = { "data-number": String(number) };
    setChildren(holder, [new Text("✓")]); // the converter passes by what is empty
  }
  for (const [target, number] of numbers) {
    for (const back of elementsBelow(target).filter(isBackLink)) dropWithSigns(back, target);
    target.name = "note-text";
    target.attribs = { "data-number": String(number) };
  }
}

function isMark(link: Element): boolean {
  if (isNamedMark(link)) return true;
  const { href } = link.attribs;
  if (href === undefined || !/^#./.test(href)) return false;
  const isRaised = link.parent !== null && isElement(link.parent) && link.parent.name === "sup";
  return isRaised && /^\W*\w{1,4}\W*$/.test(textOf(link).trim());
}

/** Tells whether a link calls itself the mark of a note, as writers' tools do for footnotes. */
export function isNamedMark({ attribs }: Element): boolean {
  const { href, role, class: words } = attribs;
  return (
    href !== undefined &&
    /^#./.test(href) &&
    (role === "doc-noteref" || /footnote-?ref/.test(words ?? "") || "data-footnote-ref" in attribs)
  );
}

/** Drops a link with what is left around it, such as the brackets of its number. */
function dropWithSigns(back: Element, target: Element): void {
  setChildren(back, []);
  for (const around of ancestorsOf(back)) {
    if (around === target || /[\p{L}\p{N}]/u.test(textOf(around))) return;
    setChildren(around, []);
  }
}

const isBackLink = ({ name, attribs, children }: Element): boolean =>
  attribs["role"] === "doc-backlink" ||
  /backref|backlink/.test(attribs["class"] ?? "") ||
  (name === "a" &&
    /^#/.test(attribs["href"] ?? "") &&
    children.length === 1 &&
    /^\s*[↩↑^⏎]/.test(textOf(children[0] as Element)));
