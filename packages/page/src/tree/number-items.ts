import { type AnyNode, type Element, elementsBelow, isElement, type ParentNode, setChildren } from "./dom.ts";

const listNames = ["ol", "ul", "menu", "dir"] as const;

/**
 * Writes each list item's marker into `data-marker`, so that the converter need not count siblings again for each.
 * A list that stands in a list, and in no item, becomes part of the item before it, as people see it.
 */
export function numberItems(root: ParentNode): void {
  for (const list of elementsBelow(root, ...listNames)) {
    nestLists(list);
    let number = numberIn(list.attribs["start"]) ?? 1;
    for (const child of list.children) {
      if (!isElement(child) || child.name !== "li") continue;
      number = numberIn(child.attribs["value"]) ?? number;
      child.attribs["data-marker"] = list.name === "ol" ? `${number++}. ` : "- ";
    }
  }
}

/** A number that an item of markdown may have. An attribute without a value says none. */
const numberIn = (text = ""): number | undefined => (/^\s*\d{1,9}\s*$/.test(text) ? Number(text) : undefined);

function nestLists(list: Element): void {
  if (!list.children.some(isList)) return;
  const kept: AnyNode[] = [];
  const inner = new Map<Element, AnyNode[]>();
  let item: Element | undefined;
  for (const child of list.children) {
    if (isElement(child) && child.name === "li") item = child;
    if (item === undefined || !isList(child)) kept.push(child);
    else if (!inner.get(item)?.push(child)) inner.set(item, [child]);
  }
  for (const [holder, lists] of inner) setChildren(holder, [...holder.children, ...lists]);
  setChildren(list, kept);
}

const isList = (node: AnyNode): node is Element => isElement(node) && (listNames as readonly string[]).includes(node.name);
