import type { Nth } from "css-tree/dist/csstree.esm";
import { type Element, isElement } from "../tree/dom.ts";
import { isShadowRoot } from "../tree/shadow-roots.ts";
import { type StyleBudget, steps } from "./style-budget.ts";

/** Where an element stands among the elements of its parent, or among some of them, from 1 on. */
interface Place {
  readonly fromStart: number;
  readonly fromEnd: number;
}

/** Undefined for an element that is none of those which are counted. */
type PlaceOf = (element: Element) => Place | undefined;

/**
 * Who counts: all elements, those of each name, or those that something is true of. Each counts the elements of a
 * parent once.
 */
export interface Places {
  readonly ofAll: PlaceOf;
  readonly ofType: PlaceOf;
  among(isCounted: (element: Element) => boolean): PlaceOf;
}

export function placesOnPage(budget: StyleBudget): Places {
  return {
    ofAll: counting(() => "", budget),
    ofType: counting(({ name }) => name, budget),
    among: (isCounted) => counting((element) => (isCounted(element) ? "" : undefined), budget),
  };
}

function counting(kindOf: (element: Element) => string | undefined, budget: StyleBudget): PlaceOf {
  const places = new Map<Element, Place>();
  const counted = new Set<unknown>();
  return (element) => {
    const { parent } = element;
    if (places.has(element) || counted.has(parent)) return places.get(element);
    const siblings =
      parent === null
        ? [element]
        : parent.children.filter((node): node is Element => isElement(node) && !isShadowRoot(node));
    budget.spend(steps.kept * siblings.length);
    const groups = Map.groupBy(siblings, kindOf);
    for (const [kind, group] of groups) {
      if (kind === undefined) continue;
      group.forEach((sibling, i) => {
        places.set(sibling, { fromStart: i + 1, fromEnd: group.length - i });
      });
    }
    if (parent !== null) counted.add(parent);
    return places.get(element);
  };
}

/** A test of where an element stands; undefined for a name that is about something else. */
export function placeTest(
  name: string,
  nth: Nth | undefined,
  { ofAll, ofType, among }: Places,
  isCounted?: (element: Element) => boolean,
): ((element: Element) => boolean) | undefined {
  const [, side, kind] = /^(first|last|only|nth|nth-last)-(child|of-type)$/.exec(name) ?? [];
  if (
    side === undefined ||
    side.startsWith("nth") !== (nth !== undefined) ||
    (isCounted !== undefined && kind !== "child")
  )
    return undefined;
  const placeOf = isCounted !== undefined ? among(isCounted) : kind === "child" ? ofAll : ofType;
  const [step, offset] = nth === undefined ? [0, 1] : stepsOf(nth);
  const isAt = (count: number): boolean =>
    step === 0 ? count === offset : (count - offset) % step === 0 && (count - offset) / step >= 0;
  return (element) => {
    const place = placeOf(element);
    if (place === undefined) return false;
    if (side === "only") return place.fromStart === 1 && place.fromEnd === 1;
    return isAt(side.endsWith("last") ? place.fromEnd : place.fromStart);
  };
}

/** The A and B of `An+B`. */
function stepsOf({ nth }: Nth): readonly [number, number] {
  if (nth.type === "Identifier") return [2, nth.name.toLowerCase() === "odd" ? 1 : 0];
  return [Number(nth.a ?? 0), Number(nth.b ?? 0)];
}
