import type { CssNode, Nth, PseudoClassSelector } from "css-tree/dist/csstree.esm";
import { type Element, isElement } from "../tree/dom.ts";
import type { StyleBudget } from "./style-budget.ts";

/** Where an element stands among the elements of its parent, from 1 on. */
interface Place {
  readonly fromStart: number;
  readonly fromEnd: number;
}

export type PlaceOf = (element: Element) => Place;

/** Counts the elements of each parent once, for all selectors of a page. */
export function placesOnPage(budget: StyleBudget): PlaceOf {
  const places = new Map<Element, Place>();
  return (element) => {
    const known = places.get(element);
    if (known !== undefined) return known;
    const siblings = element.parent?.children.filter(isElement) ?? [element];
    budget.spend(siblings.length);
    siblings.forEach((sibling, i) => {
      places.set(sibling, { fromStart: i + 1, fromEnd: siblings.length - i });
    });
    return places.get(element) ?? { fromStart: 1, fromEnd: 1 };
  };
}

/** A test of where an element stands; undefined for a pseudo-class that is about something else, or about some of the siblings only. */
export function placeTest({ name, children }: PseudoClassSelector, placeOf: PlaceOf): ((element: Element) => boolean) | undefined {
  switch (name.toLowerCase()) {
    case "first-child":
      return (element) => placeOf(element).fromStart === 1;
    case "last-child":
      return (element) => placeOf(element).fromEnd === 1;
    case "only-child":
      return (element) => placeOf(element).fromStart === 1 && placeOf(element).fromEnd === 1;
    case "nth-child":
      return nthTest(children?.first, (element) => placeOf(element).fromStart);
    case "nth-last-child":
      return nthTest(children?.first, (element) => placeOf(element).fromEnd);
    default:
      return undefined;
  }
}

function nthTest(argument: CssNode | null | undefined, countOf: (element: Element) => number): ((element: Element) => boolean) | undefined {
  if (argument?.type !== "Nth" || argument.selector !== null) return undefined;
  const [step, offset] = stepsOf(argument);
  return (element) => {
    const distance = countOf(element) - offset;
    return step === 0 ? distance === 0 : distance % step === 0 && distance / step >= 0;
  };
}

/** The A and B of `An+B`. */
function stepsOf({ nth }: Nth): readonly [number, number] {
  if (nth.type === "Identifier") return [2, nth.name.toLowerCase() === "odd" ? 1 : 0];
  return [Number(nth.a ?? 0), Number(nth.b ?? 0)];
}
