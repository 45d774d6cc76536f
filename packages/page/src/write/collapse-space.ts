import type { Text } from "domhandler";
import { type AnyNode, type Element, isElement, isText, type ParentNode, setChildren } from "../tree/dom.ts";
import { blockNames, voidNames } from "../tree/element-names.ts";
import { isSameMark } from "./rules.ts";

/**
 * Leaves of white space what is seen of it: one space between words, and none at the ends of blocks. Texts side by side
 * become one, and empty ones go. Marks of one kind side by side become one, for markdown cannot tell the end of the one
 * from the begin of the other. Blocks of code stay as they are.
 */
export function collapseSpace(root: ParentNode): void {
  /** The text that what follows may have to be parted from. */
  let last: Text | undefined;
  let keepsSpace = false;
  collapseIn(root);
  trimLast();

  function collapseIn(parent: ParentNode): void {
    const { children } = parent;
    const kept: AnyNode[] = [];
    for (let i = 0; i < children.length; i++) {
      const child = children[i] as AnyNode;
      if (isElement(child)) {
        let held: AnyNode[] | undefined;
        for (let next = children[i + 1]; next !== undefined && isSameMark(child, next); next = children[++i + 1]) {
          held ??= [...child.children];
          for (const inner of next.children) held.push(inner);
        }
        if (held !== undefined) setChildren(child, held);
        collapseAround(child);
      } else if (!isText(child)) continue;
      else {
        for (let next = children[i + 1]; next !== undefined && isText(next); next = children[++i + 1])
          child.data += next.data;
        if (!collapse(child)) continue;
      }
      kept.push(child);
    }
    if (kept.length < children.length) setChildren(parent, kept);
  }

  function collapseAround(element: Element): void {
    pass(element);
    if (element.name === "pre" || element.children.length === 0) return;
    collapseIn(element);
    pass(element);
  }

  /** Collapses the space of a text, and tells whether anything is left. */
  function collapse(text: Text): boolean {
    let data = /[\r\n\t]| {2}/.test(text.data) ? text.data.replaceAll(/[ \r\n\t]+/g, " ") : text.data;
    if ((last === undefined || last.data.endsWith(" ")) && !keepsSpace && data.startsWith(" ")) data = data.slice(1);
    text.data = data;
    if (data !== "") last = text;
    return data !== "";
  }

  /** At an element's begin and end. */
  function pass({ name, attribs }: Element): void {
    if (name === "br" || blockNames.has(name) || "data-block" in attribs) {
      trimLast();
      keepsSpace = false;
    } else if (name === "task-mark") {
      last = undefined; // it ends with a space
      keepsSpace = false;
    } else if (voidNames.has(name)) {
      last = undefined;
      keepsSpace = true;
    } else if (last !== undefined) keepsSpace = false;
  }

  function trimLast(): void {
    if (last?.data.endsWith(" ") === true) last.data = last.data.slice(0, -1);
    last = undefined;
  }
}
