import { type AnyNode, isElement, isText, type ParentNode, setChildren } from "./dom.ts";
import { blockNames } from "./element-names.ts";

/**
 * Puts each child's replacement in its place, and drops those without. A block beside words of a line leaves an empty
 * one: what stood on two lines never becomes one word.
 * @param isSeen whether a dropped child takes a place of its own @default always
 */
export function keepChildren(
  parent: ParentNode,
  keep: (child: AnyNode) => AnyNode | undefined,
  isSeen: (child: AnyNode) => boolean = () => true,
): void {
  const kept: AnyNode[] = [];
  const isInline = isElement(parent) && !blockNames.has(parent.name);
  const [before, after] = isInline ? [parent.prev, parent.next] : [];
  let gap: AnyNode | undefined;
  const addGap = (next: AnyNode | undefined): void => {
    if (gap !== undefined && isOfLine(kept.at(-1) ?? before) && isOfLine(next ?? after)) {
      setChildren(gap as ParentNode, []);
      kept.push(gap);
    }
    gap = undefined;
  };
  for (const child of parent.children) {
    const node = keep(child);
    if (node !== undefined) {
      addGap(node);
      kept.push(node);
    } else if (isElement(child) && blockNames.has(child.name) && isSeen(child)) gap = child;
  }
  addGap(undefined);
  setChildren(parent, kept);
}

function isOfLine(node: AnyNode | null | undefined): boolean {
  if (node === null || node === undefined) return false;
  return isElement(node) ? !blockNames.has(node.name) : isText(node) && node.data.trim() !== "";
}
