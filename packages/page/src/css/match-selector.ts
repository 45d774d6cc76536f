import { type CssNode, ident, type Selector } from "css-tree/dist/csstree.esm";
import { classNamesIn, type Element, isElement } from "../tree/dom.ts";
import { folded } from "../tree/quirks.ts";
import { type PlaceOf, placeTest } from "./place-test.ts";
import type { StyleBudget } from "./style-budget.ts";

type Test = (element: Element) => boolean;

/** Compounds from right to left, each the parent's of the one before. */
type Chain = readonly (readonly Test[])[];

export interface MatcherOptions {
  /** What was read of elements' classes, to be shared by the selectors of a page. */
  readonly classes: Map<Element, ReadonlySet<string>>;
  /** Whether the case of ids and classes says nothing. */
  readonly isQuirky: boolean;
  readonly placeOf: PlaceOf;
  readonly budget: StyleBudget;
}

/**
 * A test of elements for a selector of names, classes, ids and places among siblings, with the combinators of descendants and children, which most are: it takes no text and no search.
 * Undefined for any other selector.
 */
export function matcherOf({ children }: Selector, options: MatcherOptions): Test | undefined {
  let compound: Test[] = [];
  const chains: Test[][][] = [[compound]];
  for (const node of children.toArray().reverse()) {
    if (node.type === "Combinator") {
      if (compound.length === 0 || (node.name !== " " && node.name !== ">")) return undefined;
      compound = [];
      if (node.name === " ") chains.push([compound]);
      else chains.at(-1)?.push(compound);
      continue;
    }
    const test = testOf(node, options);
    if (test === undefined) return undefined;
    compound.push(test);
  }
  return compound.length === 0 ? undefined : (element) => isBelow(element, chains, options.budget);
}

function testOf(node: CssNode, { classes, isQuirky, placeOf }: MatcherOptions): Test | undefined {
  if (node.type === "IdSelector") {
    const id = folded(ident.decode(node.name), isQuirky);
    return ({ attribs }) => attribs["id"] !== undefined && folded(attribs["id"], isQuirky) === id;
  }
  if (node.type === "ClassSelector") {
    const name = folded(ident.decode(node.name), isQuirky);
    return (element) => classesOf(element, classes, isQuirky).has(name);
  }
  if (node.type === "PseudoClassSelector") return placeTest(node, placeOf);
  if (node.type !== "TypeSelector" || node.name.includes("|")) return undefined;
  if (node.name === "*") return () => true;
  const type = ident.decode(node.name).toLowerCase();
  return ({ name }) => name === type;
}

function classesOf(element: Element, known: Map<Element, ReadonlySet<string>>, isQuirky: boolean): ReadonlySet<string> {
  const found = known.get(element) ?? new Set(classNamesIn(folded(element.attribs["class"] ?? "", isQuirky)));
  known.set(element, found);
  return found;
}

/** The nearest ancestors that match are taken: they leave most of the others for the chains that follow, so that no choice is tried twice. */
function isBelow(element: Element, [first = [], ...others]: readonly Chain[], budget: StyleBudget): boolean {
  let looks = 1;
  let top = topOf(element, first);
  for (const chain of others) {
    let at: Element | undefined = top;
    top = undefined;
    while (at !== undefined && top === undefined) {
      looks++;
      at = parentOf(at);
      if (at !== undefined) top = topOf(at, chain);
    }
  }
  budget.spend(looks);
  return top !== undefined;
}

/** The element that the last compound of a chain matches, if all match from `element` upwards. */
function topOf(element: Element, chain: Chain): Element | undefined {
  let top: Element | undefined;
  for (const compound of chain) {
    top = top === undefined ? element : parentOf(top);
    if (top === undefined) return undefined;
    for (const test of compound) if (!test(top)) return undefined;
  }
  return top;
}

const parentOf = ({ parent }: Element): Element | undefined => (parent !== null && isElement(parent) ? parent : undefined);
