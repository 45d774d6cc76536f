import { type Element, isElement } from "../tree/dom.ts";
import { layoutIn } from "./box-room.ts";
import type { DeclaredStyle } from "./cascade.ts";
import { backgroundOf, type Colour, isClear, isSame } from "./colours.ts";
import { pixels } from "./css-values.ts";
import type { DeclaredStyles } from "./declared-style.ts";
import { steps } from "./style-budget.ts";

/** What a child or one in it is painted with. */
interface Paint {
  readonly by: Element;
  readonly colour: Colour;
  /** Whether it may lie over or under what stands beside the child. */
  readonly isLoose: boolean;
}

const CLEAR: Colour = [0, 0, 0, 0];
/** Of an element and those in it, for those around. */
const MAX_PAINTS = 4;
const pictures: ReadonlySet<string> = new Set([
  "canvas",
  "embed",
  "iframe",
  "img",
  "object",
  "picture",
  "svg",
  "video",
]);

/**
 * Tells whether a thing of another colour may lie between a text in an element and what the text stands on: one that is
 * out of the flow, beside the element or one around it, or any where these are out of the flow themselves.
 */
export function coversOn({ of, budget }: DeclaredStyles): (element: Element, colour: Colour) => boolean {
  const painted = new Map<Element, readonly Paint[]>();

  return (element, colour) => {
    for (let at = element; at.parent !== null && isElement(at.parent); at = at.parent) {
      budget.spend(steps.around);
      if (backgroundOf(of(at), CLEAR) !== CLEAR) return false; // that is on top
      const beside = paintsBelow(at.parent).filter(({ by }) => by !== at);
      const isLoose = isOutOfFlow(of(at)) || layoutIn(of(at.parent), "flow") === "grid";
      if (beside.some((paint) => (isLoose || paint.isLoose) && !isSame(paint.colour, colour))) return true;
    }
    return false;
  };

  /** What is painted in the children of an element. It recurses: parsePage bounds the depth. */
  function paintsBelow(element: Element): readonly Paint[] {
    const known = painted.get(element);
    if (known !== undefined) return known;
    const found: Paint[] = [];
    for (const child of element.children) {
      if (!isElement(child)) continue;
      budget.spend(steps.around);
      for (const { colour, isLoose } of paintsOf(child)) {
        // Two of a kind, as one may be the element that is asked of.
        const like = found.filter(
          (paint) => paint.isLoose === isLoose && (paint.colour === colour || isSame(paint.colour, colour)),
        );
        if (like.length < 2) found.push({ by: child, colour, isLoose });
      }
    }
    painted.set(element, found);
    return found;
  }

  function paintsOf(element: Element): readonly Omit<Paint, "by">[] {
    const style = of(element);
    if (style.get("display") === "none" || /^0*\.?0*$/.test(style.get("opacity") ?? "1")) return [];
    const isLoose = isOutOfFlow(style);
    const own = pictures.has(element.name) ? "unknown" : backgroundOf(style, CLEAR);
    const below = paintsBelow(element).map((paint) => ({ colour: paint.colour, isLoose: isLoose || paint.isLoose }));
    return (isClear(own) ? below : [{ colour: own, isLoose }, ...below]).slice(0, MAX_PAINTS);
  }
}

/** Whether an element may lie on others, or under them. */
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
