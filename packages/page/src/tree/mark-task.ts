import { Text } from "domhandler";
import { type AnyNode, type Element, isElement, isText, setChildren } from "./dom.ts";

/** Keeps what a checkbox in an item says, which is lost with the form's fields. */
export function markTask(box: Element): void {
  if (box.attribs["type"]?.toLowerCase() !== "checkbox" || !isInItem(box)) return;
  box.name = "task-mark";
  box.attribs = "checked" in box.attribs ? { "data-done": "" } : {};
  setChildren(box, [new Text("✓")]); // the converter passes by what is empty
}

/** Tells whether the box comes before any text of the item. */
function isInItem(box: Element): boolean {
  let node: AnyNode = box;
  for (let { parent } = box; parent !== null && isElement(parent); { parent } = parent) {
    const first = parent.children.find((child) => !isText(child) || child.data.trim() !== "");
    if (first !== node) return false;
    if (parent.name === "li") return true;
    node = parent;
  }
  return false;
}
