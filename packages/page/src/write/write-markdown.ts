import type { Text } from "domhandler";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { type AnyNode, type Element, elementsBelow, isElement, isText, type ParentNode } from "../tree/dom.ts";
import { blockNames } from "../tree/element-names.ts";
import { collapseSpace } from "./collapse-space.ts";
import { escapeText, isBeforeLink, isBlock, isInAddress, isInLine } from "./escape-text.ts";
import { partCode } from "./part-code.ts";
import { Pieces } from "./pieces.ts";
import { contentRules, holdsBlocks, leafRules, markNames } from "./rules.ts";
import { settleMarks } from "./settle-marks.ts";
import { edgesOf, isBlank, NO_EDGES } from "./text-edges.ts";

/**
 * Writes a tree as GitHub-flavoured markdown, after the other steps of toMarkdown: links are absolute, tables are rows
 * of cells alone, code is `pre > code`, and formulas, notes and tasks are elements of their own. The tree's white space
 * is collapsed on the way. Its depth is bounded by then.
 * @throws {PageTooComplexError} if any part of it becomes longer than `maxLength`, in UTF-16 code units
 */
export function writeMarkdown(root: ParentNode, { maxLength }: { readonly maxLength: number }): string {
  collapseSpace(root);
  partCode(root);
  return settleMarks(contentOf(root, false).trim());

  function contentOf(parent: ParentNode, isCode: boolean): string {
    const pieces = new Pieces();
    for (const child of parent.children) write(child, pieces, isCode);
    const content = pieces.toString();
    if (content.length > maxLength)
      throw new PageTooComplexError(`more than ${maxLength} characters once it is converted`);
    return content;
  }

  function write(node: AnyNode, pieces: Pieces, isCode: boolean): void {
    if (isText(node)) {
      pieces.add(isCode ? node.data : escaped(node));
    } else if (isElement(node)) writeElement(node, pieces, isCode || node.name === "code");
  }

  function escaped(node: Text): string {
    const { data } = node;
    const text = escapeText(data, {
      goesOn: /^\S*</.test(data) && isInAddress(node),
      isInLine: /^[-+=#>~\d]/.test(data) && isInLine(node),
    });
    return text.endsWith("!") && isBeforeLink(node) ? `${text.slice(0, -1)}\\!` : text;
  }

  function writeElement(element: Element, pieces: Pieces, isCode: boolean): void {
    const leaf = leafRules.get(element.name);
    if (leaf !== undefined) pieces.add(leaf(element));
    else if (blockNames.has(element.name)) writeBlock(element, pieces, isCode);
    else writeInline(element, pieces, isCode);
  }

  function writeBlock(block: Element, pieces: Pieces, isCode: boolean): void {
    const isEmpty = isBlank(block);
    const rule = isEmpty || isStray(block) ? undefined : contentRules.get(block.name);
    if (rule === undefined) {
      pieces.breakLine(2);
      if (!isEmpty) for (const child of block.children) write(child, pieces, isCode);
      pieces.breakLine(2);
    } else pieces.add(rule(contentOf(block, isCode), block));
  }

  function writeInline(element: Element, pieces: Pieces, isCode: boolean): void {
    if (isBlank(element)) {
      const { leading, trailing } = edgesOf(element);
      pieces.add(leading + trailing);
      if (elementsBelow(element).some(isBlock)) pieces.breakLine(2);
      return;
    }
    const rule = isCode && markNames.has(element.name) ? undefined : contentRules.get(element.name);
    if (rule === undefined) {
      for (const child of element.children) write(child, pieces, isCode);
      return;
    }
    const content = contentOf(element, isCode);
    const { leading, trailing } = holdsBlocks(content) ? NO_EDGES : edgesOf(element);
    pieces.add(
      leading === "" && trailing === "" ? rule(content, element) : leading + rule(content.trim(), element) + trailing,
    );
  }
}

/** A part of a table beside any table. */
function isStray({ name, parent }: Element): boolean {
  if (name === "tr") return !isNamed(parent, "table");
  return (name === "td" || name === "th") && !(isNamed(parent, "tr") && isNamed(parent.parent, "table"));
}

const isNamed = (node: ParentNode | null, name: string): node is Element =>
  node !== null && isElement(node) && node.name === name;
