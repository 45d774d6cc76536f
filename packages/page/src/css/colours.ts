import { rgbOf } from "./css-values.ts";
import type { DeclaredStyle } from "./declared-style.ts";

/** Red, green, blue and opacity; "unknown" where only a sheet that is not read, or a picture, could tell. */
export type Colour = readonly [number, number, number, number] | "unknown";

export const parseColour = (value: string): Colour => rgbOf(value) ?? "unknown";

/** Tells whether a colour is invisible. */
export const isClear = (colour: Colour): boolean => colour !== "unknown" && colour[3] <= 0.05;

/** So near that nobody reads one on the other. */
export const isSame = (colour: Colour, background: Colour): boolean =>
  colour !== "unknown" &&
  background !== "unknown" &&
  [0, 1, 2].every((part) => Math.abs((colour[part] ?? 0) - (background[part] ?? 0)) <= 8);

/** The background of a box, of which the one around it is seen where it has none. */
export function backgroundOf(style: DeclaredStyle, around: Colour): Colour {
  const words = style.get("background-color") ?? "";
  if (/url\(|gradient\(|var\(|image\(/.test(`${words} ${style.get("background-image") ?? ""}`)) return "unknown";
  const value = (words.match(/[a-z-]+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\S+/g) ?? []).find(
    (word) => parseColour(word) !== "unknown",
  );
  if (value === undefined) return words === "" || /^(?:none|inherit|initial|unset)\b/.test(words) ? around : "unknown";
  const colour = parseColour(value);
  if (colour === "unknown" || colour[3] >= 0.95) return colour;
  return colour[3] <= 0.05 ? around : "unknown"; // one shines through the other
}
