import { ancestorsOf, type Element, isElement } from "../tree/dom.ts";
import { layoutIn } from "./box-room.ts";
import { backgroundOf, type Colour, isClear, isSame } from "./colours.ts";
import { pixels } from "./css-values.ts";
import type { DeclaredStyle, DeclaredStyles } from "./declared-style.ts";
import { steps } from "./style-budget.ts";

/** What an element paints. */
interface Paint {
  readonly by: Element;
  readonly colour: Colour;
  /** True if the element, or one around it, may lie over or under its siblings. */
  readonly isLoose: boolean;
}

const CLEAR: Colour = [0, 0, 0, 0];
const pictures: ReadonlySet<string> = new Set([
  ...["canvas", "embed", "iframe", "img", "object", "picture", "svg", "video"],
]);
/** The most paints of each kind that are looked at on a page. */
const MAX_PAINTS = 50;

/**
 * Tells whether a thing of another colour may lie between a text in an element and what the text stands on: one that is
 * out of the flow, or any where the text is out of the flow itself.
 * @param all the elements of the page
 */
export function coversOn(
  { of, budget }: DeclaredStyles,
  all: readonly Element[],
): (element: Element, colour: Colour) => boolean {
  let known: readonly Paint[] | undefined;
  const selfAndAround = (element: Element): Element[] => [element, ...ancestorsOf(element)];
  return (element, colour) => {
    known ??= paints();
    const around = selfAndAround(element);
    const at = around.findIndex((box) => backgroundOf(of(box), CLEAR) !== CLEAR);
    const chain = at === -1 ? around : around.slice(0, at);
    const ground = at === -1 ? undefined : around[at];
    const isLoose = chain.some((box) => isOutOfFlow(of(box)) || isInGrid(box));
    budget.spend((around.length + known.length) * steps.kept);
    return known.some(
      (paint) =>
        (isLoose || paint.isLoose) &&
        !isSame(paint.colour, colour) &&
        paint.by !== ground &&
        (ground === undefined || selfAndAround(paint.by).includes(ground)),
    );
  };

  function paints(): readonly Paint[] {
    const found: Paint[] = [];
    for (const by of all) {
      const own = pictures.has(by.name) ? "unknown" : backgroundOf(of(by), CLEAR);
      if (isClear(own) || selfAndAround(by).some((box) => isUnseen(of(box)))) continue;
      budget.spend(steps.kept);
      found.push({ by, colour: own, isLoose: selfAndAround(by).some((box) => isOutOfFlow(of(box))) });
    }
    const [loose, fixed] = [found.filter(({ isLoose }) => isLoose), found.filter(({ isLoose }) => !isLoose)];
    return [...loose.slice(0, MAX_PAINTS), ...fixed.slice(0, MAX_PAINTS)];
  }

  function isInGrid({ parent }: Element): boolean {
    return parent !== null && isElement(parent) && layoutIn(of(parent), "flow") === "grid";
  }
}

const isUnseen = (style: DeclaredStyle): boolean =>
  style.get("display") === "none" || /^0*\.?0*$/.test(style.get("opacity") ?? "1");

/** Tells whether an element may lie on others, or under them. */
function isOutOfFlow(style: DeclaredStyle): boolean {
  if (style.size === 0) return false;
  const of = (name: string): string => style.get(name) ?? "";
  if (/^(?:absolute|fixed|sticky)$/.test(of("position"))) return true;
  if (["margin-top", "margin-left"].some((side) => pixels(of(side)) < 0)) return true;
  if (
    of("position") === "relative" &&
    ["top", "left", "bottom", "right"].some((side) => Math.abs(pixels(of(side))) > 0)
  )
    return true;
  return ["transform", "translate"].some((name) => !/^(?:none)?$/.test(of(name)));
}
