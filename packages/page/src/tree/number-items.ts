import { type AnyNode, type Element, elementsBelow, isElement, type ParentNode, setChildren } from "./dom.ts";

const listNames = ["ol", "ul", "menu", "dir"] as const;

/**
 * Writes each list item's marker into `data-marker`, so that the converter need not count siblings again for each.
 * Markdown counts in numbers only: an item that people see as c, or iii, is the third. A list that counts down has the
 * numbers that people see, though a reader that draws markdown counts up from the first. Call it before
 * `flattenTables`, which writes markers into cells. A list that stands in a list, and in no item, becomes part of the
 * item before it, as people see it.
 */
export function numberItems(root: ParentNode): void {
  for (const list of elementsBelow(root, ...listNames)) {
    nestLists(list);
    const items = list.children.filter(isItem);
    const isReversed = "reversed" in list.attribs;
    let number = numberIn(list.attribs["start"]) ?? (isReversed ? items.length : 1);
    for (const item of items) {
      number = numberIn(item.attribs["value"]) ?? number;
      item.attribs["data-marker"] = list.name === "ol" ? `${number}. ` : "- ";
      number = isReversed ? Math.max(0, number - 1) : number + 1; // markdown has no negative numbers
    }
  }
}

const isItem = (node: AnyNode): node is Element => isElement(node) && node.name === "li";

/** A number that an item of markdown may have. An attribute without a value says none. */
const numberIn = (text = ""): number | undefined => (/^\s*\d{1,9}\s*$/.test(text) ? Number(text) : undefined);

function nestLists(list: Element): void {
  if (!list.children.some(isList)) return;
  const kept: AnyNode[] = [];
  const inner = new Map<Element, AnyNode[]>();
  let item: Element | undefined;
  for (const child of list.children) {
    if (isItem(child)) item = child;
    if (item === undefined || !isList(child)) kept.push(child);
    else if (!inner.get(item)?.push(child)) inner.set(item, [child]);
  }
  for (const [holder, lists] of inner) setChildren(holder, [...holder.children, ...lists]);
  setChildren(list, kept);
}

const isList = (node: AnyNode): node is Element =>
  isElement(node) && (listNames as readonly string[]).includes(node.name);
