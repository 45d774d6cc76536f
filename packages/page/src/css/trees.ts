import { type Element, isElement } from "../tree/dom.ts";
import { isShadowRoot } from "../tree/shadow-roots.ts";
import type { StyleBudget } from "./style-budget.ts";

/** A tree that sheets apply to by themselves: the document, or a shadow tree. */
export interface StyledTree {
  /** What has the shadow tree. */
  readonly host: Element | undefined;
  /** Of how many others it stands in. */
  readonly depth: number;
}

/** In which tree each element stands, of elements in document order; roots of shadow trees stand in none. */
export function treesOf(elements: readonly Element[]): (element: Element) => StyledTree | undefined {
  const document: StyledTree = { host: undefined, depth: 0 };
  if (!elements.some(isShadowRoot)) return () => document;
  const trees = new Map<Element, StyledTree>();
  /** Of the children of a root. */
  const below = new Map<Element, StyledTree>();
  for (const element of elements) {
    const { parent } = element;
    const around =
      parent !== null && isElement(parent) ? (below.get(parent) ?? trees.get(parent) ?? document) : document;
    if (isShadowRoot(element) && parent !== null && isElement(parent))
      below.set(element, { host: parent, depth: around.depth + 1 });
    else trees.set(element, around);
  }
  return (element) => trees.get(element);
}

/** What selectors take for the parent: of the outermost elements of a shadow tree its host. */
export function parentOf({ parent }: Element): Element | undefined {
  if (parent === null || !isElement(parent)) return undefined;
  return isShadowRoot(parent) ? (parent.parent as Element) : parent;
}

export function elementBefore({ prev }: Element, budget: StyleBudget): Element | undefined {
  for (let at = prev; at !== null; at = at.prev) {
    if (isElement(at) && !isShadowRoot(at)) return at;
    budget.spend(1);
  }
  return undefined;
}
