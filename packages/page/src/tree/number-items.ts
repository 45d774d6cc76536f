import { elementsBelow, isElement, type ParentNode } from "./dom.ts";

/** Writes each list item's marker into `data-marker`, so that the converter need not count siblings again for each. */
export function numberItems(root: ParentNode): void {
  for (const list of elementsBelow(root, "ol", "ul", "menu")) {
    const start = Number(list.attribs["start"] ?? 1);
    let number = Number.isInteger(start) && start >= 0 && start < 1e9 ? start : 1;
    for (const child of list.children) {
      if (isElement(child) && child.name === "li") child.attribs["data-marker"] = list.name === "ol" ? `${number++}. ` : "- ";
    }
  }
}
