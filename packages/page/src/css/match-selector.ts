import { type CssNode, ident, type Selector } from "css-tree/dist/csstree.esm";
import { type Element, isElement } from "../tree/dom.ts";
import type { StyleBudget } from "./style-budget.ts";

type Test = (element: Element) => boolean;

/** Compounds from right to left, each the parent's of the one before. */
type Chain = readonly (readonly Test[])[];

/**
 * A test of elements for a selector of names, classes and ids with the combinators of descendants and children, which most are: it takes no text and no search.
 * Undefined for any other selector.
 * @param classes what was read of elements' classes, to be shared by the selectors of a page
 */
export function matcherOf({ children }: Selector, classes: Map<Element, ReadonlySet<string>>, budget: StyleBudget): Test | undefined {
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
    const test = testOf(node, classes);
    if (test === undefined) return undefined;
    compound.push(test);
  }
  return compound.length === 0 ? undefined : (element) => isBelow(element, chains, budget);
}

function testOf(node: CssNode, classes: Map<Element, ReadonlySet<string>>): Test | undefined {
  if (node.type === "IdSelector") {
    const id = ident.decode(node.name);
    return ({ attribs }) => attribs["id"] === id;
  }
  if (node.type === "ClassSelector") {
    const name = ident.decode(node.name);
    return (element) => classesOf(element, classes).has(name);
  }
  if (node.type !== "TypeSelector" || node.name.includes("|")) return undefined;
  if (node.name === "*") return () => true;
  const type = ident.decode(node.name).toLowerCase();
  return ({ name }) => name === type;
}

function classesOf(element: Element, known: Map<Element, ReadonlySet<string>>): ReadonlySet<string> {
  const found = known.get(element) ?? new Set((element.attribs["class"] ?? "").split(/\s+/));
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
