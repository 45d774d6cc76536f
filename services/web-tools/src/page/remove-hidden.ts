import type { CheerioAPI } from "cheerio/slim";
import colorString from "color-string";
import { type DeclaredStyle, declaredStyles } from "./declared-style.ts";
import { type Element, isElement, isParent, isText, type ParentNode, setChildren } from "./dom.ts";

/** Red, green, blue and opacity; "unknown" where only a sheet that is not read, or a picture, could tell. */
type Colour = readonly [number, number, number, number] | "unknown";

/** What a text has from the elements around it. */
interface Inherited {
  readonly isVisible: boolean;
  readonly isTiny: boolean;
  readonly colour: Colour;
  readonly background: Colour;
}

const BLACK: Colour = [0, 0, 0, 1];
const WHITE: Colour = [255, 255, 255, 1];
/** Further than that from its place nothing is seen of an element. */
const FAR_PX = 500;

/**
 * Removes what a person who looks at the page does not see: what is not displayed, transparent, elsewhere, cut off, tiny, or in the colour
 * of what it stands on. Such text is where a page that wants to mislead a model speaks to it.
 * @param withSheets whether the page's sheets count, or only style attributes @default true
 */
export function removeHidden($: CheerioAPI, options: { readonly withSheets?: boolean } = {}): void {
  const root = $.root()[0] as ParentNode;
  const styles = declaredStyles($, root, options);
  const start: Inherited = { isVisible: true, isTiny: false, colour: BLACK, background: styles.isIncomplete ? "unknown" : WHITE };
  const open: [ParentNode, Inherited][] = [[root, start]];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const [parent, around] = entry;
    const isSeen = around.isVisible && !around.isTiny && !isSame(around.colour, around.background);
    const kept = parent.children.filter((child) => {
      if (isText(child)) return isSeen || child.data.trim() === "";
      if (!isElement(child)) return isParent(child);
      return !("hidden" in child.attribs) && !isTakenAway(styles.of(child));
    });
    if (kept.length < parent.children.length) setChildren(parent, kept);
    for (const child of kept) if (isParent(child)) open.push([child, isElement(child) ? inherit(child, styles.of(child), around) : around]);
  }
}

/** Whether nothing of the element is seen, whatever its children say of themselves. */
function isTakenAway(style: DeclaredStyle): boolean {
  if (style.size === 0) return false;
  const of = (name: string): string => style.get(name) ?? "";
  if (of("display") === "none" || of("content-visibility") === "hidden") return true;
  // What an animation shows later begins like that.
  const isAnimated = style.has("animation") || style.has("animation-name");
  const isClear = (opacity: string): boolean => /^[-+]?[\d.]+%?$/.test(opacity) && (opacity.endsWith("%") ? 0.01 : 1) * Number.parseFloat(opacity) <= 0.05;
  if (!isAnimated && (isClear(of("opacity")) || /\bopacity\(\s*0*\.?0+%?\s*\)/.test(of("filter")))) return true;

  const isPlaced = /^(?:absolute|fixed)$/.test(of("position"));
  const isFar = (value: string): boolean => pixels(value) <= -FAR_PX;
  if (isPlaced && ["left", "top", "right", "bottom"].some((side) => isFar(of(side)))) return true;
  // Layouts of a fixed width are moved by half of it to the middle, and boxes by a share of their own size.
  if (isFar(of("text-indent")) || ["margin-left", "margin-top"].some((side) => pixels(of(side)) <= -3 * FAR_PX)) return true;
  const moved = `${of("transform")} ${of("translate")}`;
  if ((moved.match(/-[\d.]+(?:px|r?em|vw|vh)/g) ?? []).some(isFar) || /\bscale[xy]?\(\s*0*\.?0+\s*[,)]/.test(moved) || /^0*\.?0+$/.test(of("scale")))
    return true;

  if (isPlaced && /^rect\(\s*(?:[01](?:px)?[\s,]+){3}[01](?:px)?\s*\)$/.test(of("clip"))) return true;
  if (/^(?:inset\(\s*(?:[5-9]\d|\d{3,})(?:\.\d+)?%|circle\(\s*0(?:px|%)?[\s)])/.test(of("clip-path"))) return true;
  const isCut = /hidden|clip/.test(of("overflow") + of("overflow-x") + of("overflow-y"));
  // A box without height that is padded, as for pictures, has room all the same.
  const hasRoom = ["min-height", "padding", "padding-top", "padding-bottom"].some((name) => /[1-9]/.test(of(name)));
  return isCut && !hasRoom && ["width", "height", "max-width", "max-height"].some((side) => Math.abs(pixels(of(side))) <= 1);
}

function inherit(element: Element, style: DeclaredStyle, around: Inherited): Inherited {
  if (style.size === 0) return around;
  const visibility = style.get("visibility");
  const size = style.get("font-size") ?? /(?:^|\s)([\d.]+(?:px|pt|r?em|%)?)(?:\/|\s)/.exec(style.get("font") ?? "")?.[1];
  return {
    isVisible: visibility === undefined || visibility === "inherit" ? around.isVisible : visibility === "visible",
    isTiny: size === undefined || size === "inherit" ? around.isTiny : isTinySize(size),
    colour: colourOf(style, around, element),
    background: backgroundOf(style, around),
  };
}

function isTinySize(size: string): boolean {
  const [, number, unit] = /^([\d.]+)([a-z%]*)$/.exec(size) ?? [];
  if (number === undefined) return false;
  return Number(number) <= (unit === "%" ? 10 : unit === "em" || unit === "rem" ? 0.1 : 2);
}

function colourOf(style: DeclaredStyle, around: Inherited, { name }: Element): Colour {
  if (/\btext\b/.test(`${style.get("background-clip") ?? ""} ${style.get("-webkit-background-clip") ?? ""}`)) return "unknown"; // the background is the text's colour
  const value = style.get("-webkit-text-fill-color") ?? style.get("color");
  if (value === undefined) return name === "a" ? "unknown" : around.colour; // a link has a colour of its own
  return value === "inherit" || value === "currentcolor" ? around.colour : parseColour(value);
}

function backgroundOf(style: DeclaredStyle, around: Inherited): Colour {
  const shorthand = style.get("background") ?? "";
  if (/url\(|gradient\(|var\(|image\(/.test(`${shorthand} ${style.get("background-image") ?? ""}`)) return "unknown";
  const words = style.get("background-color") ?? shorthand;
  const value = (words.match(/[a-z]+\([^)]*\)|\S+/g) ?? []).find((word) => parseColour(word) !== "unknown");
  if (value === undefined) return words === "" || /^(?:none|inherit|initial|unset)\b/.test(words) ? around.background : "unknown";
  const colour = parseColour(value);
  if (colour === "unknown" || colour[3] >= 0.95) return colour;
  return colour[3] <= 0.05 ? around.background : "unknown"; // one shines through the other
}

function parseColour(value: string): Colour {
  const rgb = colorString.get.rgb(value) ?? undefined;
  if (rgb === undefined) return "unknown";
  const [red = 0, green = 0, blue = 0, opacity = 1] = rgb;
  return [red, green, blue, opacity];
}

/** So near that nobody reads one on the other. */
function isSame(colour: Colour, background: Colour): boolean {
  if (colour === "unknown") return false;
  if (colour[3] <= 0.05) return true;
  if (background === "unknown") return false;
  return [0, 1, 2].every((part) => Math.abs((colour[part] ?? 0) - (background[part] ?? 0)) <= 8);
}

/** A length in pixels, on a screen of 1000 by 1000 with letters of 16; NaN if it is none. */
function pixels(value: string): number {
  const [, number, unit = ""] = /^(-?[\d.]+)(px|pt|r?em|vw|vh|%)?$/.exec(value) ?? [];
  return number === undefined ? Number.NaN : Number(number) * (unitPixels[unit] ?? 1);
}

const unitPixels: Readonly<Record<string, number>> = { pt: 1.33, em: 16, rem: 16, vw: 10, vh: 10, "%": 10 };
