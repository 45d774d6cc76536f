import type { Element } from "../tree/dom.ts";
import { blockNames } from "../tree/element-names.ts";
import { pixels } from "./css-values.ts";
import type { DeclaredStyle } from "./declared-style.ts";

/** How a box lays out its children. */
export type Layout = "flow" | "row" | "column" | "grid";

/** Text in so few pixels is not read. */
const SMALL_PX = 3;

const isSmall = (value: string): boolean => Math.abs(pixels(value)) <= SMALL_PX;
const isLarge = (value: string): boolean => value.split(/\s+/).some((part) => pixels(part) > SMALL_PX);

/** @param around of the box that holds it */
export function layoutIn(style: DeclaredStyle, around: Layout): Layout {
  const display = style.get("display");
  if (display === undefined) return "flow";
  if (display === "contents") return around;
  if (display.endsWith("flex")) return /\bcolumn/.test(style.get("flex-direction") ?? "") ? "column" : "row";
  return display.endsWith("grid") ? "grid" : "flow";
}

/**
 * Tells whether the box, being of no size, cuts off what is inside.
 * @param around of the box that holds it
 */
export function hasNoRoom({ name }: Element, style: DeclaredStyle, around: Layout): boolean {
  if (!style.has("overflow-x") && !style.has("overflow-y")) return false;
  const of = (property: string): string => style.get(property) ?? "";
  const [x = ""] = of("overflow-x").split(" ");
  const y = of("overflow-y").split(" ").at(-1) ?? "";
  const isCut = (own: string, other: string): boolean =>
    /hidden|auto|scroll|clip/.test(own) || (own !== "clip" && /hidden|auto|scroll/.test(other));
  const [isCutX, isCutY] = [isCut(x, y), isCut(y, x)];
  if (!(isCutX || isCutY) || !isSized(name, style, around)) return false;
  const isFlat = (side: "width" | "height", pads: readonly string[]): boolean => {
    if (isLarge(of(`min-${side}`)) || pads.some((pad) => isLarge(of(pad)))) return false;
    // A share of a height that follows from the content is none.
    const isNone = (size: string): boolean => isSmall(size) && !(side === "height" && size.includes("%"));
    if (isNone(of(`max-${side}`))) return true;
    const isMain = around === (side === "width" ? "row" : "column");
    if (isMain && Number(of("flex-grow")) > 0) return false;
    const basis = isMain ? of("flex-basis") : "";
    return isNone(basis === "" || basis === "auto" ? of(side) : basis);
  };
  return (
    (isCutX && isFlat("width", ["padding-left", "padding-right"])) ||
    (isCutY && isFlat("height", ["padding-top", "padding-bottom"]))
  );
}

/**
 * Tells whether a box has the size that it is said to have: lines have none, and tables as much as their text needs.
 */
function isSized(name: string, style: DeclaredStyle, around: Layout): boolean {
  const display =
    style.get("display") ??
    (tableNames.has(name) ? "table" : blockNames.has(name) || controlNames.has(name) ? "block" : "inline");
  if (display === "contents" || (/^(?:inline-)?table/.test(display) && display !== "table-caption")) return false;
  return (
    display !== "inline" ||
    around !== "flow" ||
    /^(?:absolute|fixed)$/.test(style.get("position") ?? "") ||
    /left|right|inline/.test(style.get("float") ?? "")
  );
}
const tableNames: ReadonlySet<string> = new Set(["table", "tbody", "td", "tfoot", "th", "thead", "tr"]);
const controlNames: ReadonlySet<string> = new Set([
  "button",
  "caption",
  "meter",
  "output",
  "progress",
  "select",
  "textarea",
]);
