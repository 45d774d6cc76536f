import type { CheerioAPI } from "cheerio/slim";
import { type CssNode, clone, ident, List, type Selector, walk } from "css-tree/dist/csstree.esm";
import { ancestorsOf, type Element, type ParentNode } from "../tree/dom.ts";
import { isQuirkyPage } from "../tree/quirks.ts";
import { attempt, textOfNode } from "./css-text.ts";
import { matcherOf } from "./match-selector.ts";
import { placesOnPage } from "./place-test.ts";
import { type StyleBudget, steps } from "./style-budget.ts";

/** Finds which of the elements that a selector can be about it is about. Selectors that are not tested directly are searched for by cheerio. */
export function matchingIn(
  $: CheerioAPI,
  elements: readonly Element[],
  budget: StyleBudget,
): (selector: Selector, candidates: readonly Element[]) => readonly Element[] {
  const isQuirky = isQuirkyPage($);
  const classes = new Map<Element, ReadonlySet<string>>();
  const placeOf = placesOnPage(budget);
  const siblings = new Map<ParentNode, number>();
  let sizes: ReadonlyMap<Element, number> | undefined;
  return (selector, candidates) => {
    if (candidates.length === 0) return candidates;
    const isMatch = matcherOf(selector, { classes, isQuirky, placeOf, budget });
    if (isMatch !== undefined) return candidates.filter(isMatch);
    const text = textOfNode(readable(selector, isQuirky));
    budget.spend(steps.search + steps.trial * candidates.length);
    if (text.includes(":has(")) {
      sizes ??= sizesOf(elements);
      for (const element of candidates) budget.spend(sizes.get(element) ?? 0);
    }
    const looks = siblingLooks(selector);
    if (looks !== "none") for (const { parent } of candidates) budget.spend(steps.sibling * siblingsOf(parent, looks === "above", siblings));
    return (
      attempt(
        () =>
          $([...candidates])
            .filter(text)
            .toArray() as Element[],
      ) ?? []
    );
  };
}

/** What nothing on a page is before somebody uses it. Cheerio knows none of these, and a selector that denies one would find nothing. */
const states: ReadonlySet<string> = new Set([
  ...["active", "autofill", "focus", "focus-visible", "focus-within", "fullscreen", "hover", "modal", "popover-open", "target", "user-invalid", "user-valid"],
  "visited",
]);

/** A selector as cheerio reads it: of a state, as in `:not(:focus)`, it makes what no element is, and of names whose case says nothing, attributes. */
function readable(selector: Selector, isQuirky: boolean): CssNode {
  const copy = clone(selector);
  walk(copy, (node) => {
    if (node.type === "PseudoClassSelector" && states.has(node.name.toLowerCase())) {
      node.name = "not";
      node.children = new List<CssNode>().appendData({ type: "Raw", value: "*" });
    } else if (isQuirky && (node.type === "IdSelector" || node.type === "ClassSelector")) {
      const [name, matcher] = node.type === "IdSelector" ? ["id", "="] : ["class", "~="];
      const value = { type: "String", value: ident.decode(node.name) };
      Object.assign(node, { type: "AttributeSelector", name: { type: "Identifier", name }, matcher, value, flags: "i" });
    }
  });
  return copy;
}

/** Whether each trial counts through siblings: of the element itself, or of those around it, too. */
function siblingLooks({ children }: Selector): "none" | "own" | "above" {
  let looks: "none" | "own" | "above" = "none";
  for (const node of children) {
    if (node.type === "Combinator" && (node.name === " " || node.name === ">")) looks = looks === "none" ? "none" : "above";
    else if (node.type === "Combinator" || isCounting(node)) looks = looks === "above" ? "above" : "own";
  }
  return looks;
}

const isCounting = (node: CssNode): boolean =>
  node.type === "PseudoClassSelector" &&
  (counting.test(node.name) || (/^(?:not|is|where)$/i.test(node.name) && /[+~]|nth-|only-|of-type|:has/i.test(textOfNode(node))));
const counting = /^(?:nth-|only-|has|(?:first|last)-of-type)/i;

function siblingsOf(parent: ParentNode | null, isAbove: boolean, known: Map<ParentNode, number>): number {
  if (parent === null) return 0;
  if (!isAbove) return parent.children.length;
  const found = known.get(parent) ?? parent.children.length + siblingsOf(parent.parent, true, known);
  known.set(parent, found);
  return found;
}

/** How many elements there are below each. */
function sizesOf(elements: readonly Element[]): ReadonlyMap<Element, number> {
  const sizes = new Map<Element, number>();
  for (const element of elements) for (const around of ancestorsOf(element)) sizes.set(around, (sizes.get(around) ?? 0) + 1);
  return sizes;
}
