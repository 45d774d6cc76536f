import { calc } from "@csstools/css-calc";
import { color, serializeRGB } from "@csstools/css-color-parser";
import { parseComponentValue } from "@csstools/css-parser-algorithms";
import { tokenize } from "@csstools/css-tokenizer";
import { TextMemo } from "../text-memo.ts";
import { type StyleBudget, steps } from "./style-budget.ts";

/** The longest value of a stranger that is read. */
const MAX_VALUE_CHARACTERS = 2_000;
const MAX_DEPTH = 8;

/** Red, green and blue up to 255, and opacity up to 1; undefined if the value is no known colour. */
export const rgbOf = (value: string): Rgb | undefined =>
  colours.of(value, (text) => {
    const [, light = text] = /^light-dark\(([^,()]+(?:\([^()]*\)[^,()]*)?),/.exec(text) ?? [];
    return readRgb(light.trim());
  });

type Rgb = readonly [number, number, number, number];

const colours = new TextMemo<Rgb | undefined>({ maxTexts: 5_000, maxLength: 200 });

function readRgb(value: string): Rgb | undefined {
  try {
    const parsed = parseComponentValue(tokenize({ css: value.slice(0, MAX_VALUE_CHARACTERS) }));
    const data = parsed === undefined ? false : color(parsed);
    if (data === false) return undefined;
    const [red = 0, green = 0, blue = 0, alpha = 1] = (
      serializeRGB(data)
        .toString()
        .match(/[\d.]+/g) ?? []
    ).map(Number);
    return [red, green, blue, alpha];
  } catch {
    return undefined;
  }
}

const unitPixels: Readonly<Record<string, number>> = {
  ...{
    px: 1,
    pt: 1.33,
    pc: 16,
    in: 96,
    cm: 37.8,
    mm: 3.78,
    q: 0.945,
    em: 16,
    rem: 16,
    ex: 8,
    ch: 8,
    lh: 19,
    rlh: 19,
    "%": 10,
  },
  ...Object.fromEntries(
    ["", "s", "l", "d"].flatMap((kind) => ["w", "h", "i", "b", "min", "max"].map((side) => [`${kind}v${side}`, 10])),
  ),
};
const LENGTH = /([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(%|[a-z]+)/g;

/**
 * A length in pixels, on a screen of 1000 by 1000 with letters of 16; NaN if it is none.
 * @param own what units are that mean something else here
 */
export function pixels(value: string, own: Readonly<Record<string, number>> = {}): number {
  const inPixels = withPixels(value, own);
  const [, number] = /^([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(?:px)?$/.exec(inPixels) ?? [];
  return number === undefined ? Number.NaN : Number(number);
}

/** A value whose lengths are all in pixels, and worked out. */
export function withPixels(value: string, own: Readonly<Record<string, number>> = {}): string {
  const inPixels = value.slice(0, MAX_VALUE_CHARACTERS).replaceAll(LENGTH, (all, number: string, unit: string) => {
    const factor = own[unit] ?? unitPixels[unit];
    return factor === undefined ? all : `${Number((Number(number) * factor).toFixed(4))}px`;
  });
  if (!inPixels.includes("(")) return inPixels;
  try {
    return calc(inPixels);
  } catch {
    return inPixels;
  }
}

/** Where the parenthesis ends within which a text begins; -1 if it does not. */
function endOf(text: string, start: number): number {
  for (let i = start, depth = 0; i < text.length; i++) {
    if (text[i] === "(") depth++;
    else if (text[i] === ")" && depth-- === 0) return i;
  }
  return -1;
}

/**
 * Puts variables' values in their places.
 * @throws {PageTooComplexError} once that costs too much
 * @returns undefined where one has neither a value nor a fallback: the declaration says nothing then
 */
export function withVariables(
  value: string,
  variables: ReadonlyMap<string, string>,
  budget: StyleBudget,
  depth = 0,
): string | undefined {
  let result = value;
  for (let times = 0; result.includes("var("); times++) {
    if (times > 50 || depth > MAX_DEPTH || result.length > MAX_VALUE_CHARACTERS) return undefined;
    budget.spend(steps.variable);
    const start = result.lastIndexOf("var(");
    const end = endOf(result, start + 4);
    const [name = "", ...fallback] = result.slice(start + 4, end === -1 ? undefined : end).split(",");
    const raw = variables.get(name.trim());
    const own = raw === undefined || raw === "initial" ? undefined : withVariables(raw, variables, budget, depth + 1);
    const found = own ?? (fallback.length > 0 ? fallback.join(",").trim() : undefined);
    if (found === undefined) return undefined;
    result = result.slice(0, start) + found + (end === -1 ? "" : result.slice(end + 1));
  }
  return result;
}

/** What a browser begins with, in pixels. */
export const MEDIUM_PX = 16;

const sizes: Readonly<Record<string, number>> = {
  ...{ "xx-small": 9, "x-small": 10, small: 13, medium: MEDIUM_PX, large: 18 },
  ...{ "x-large": 24, "xx-large": 32, "xxx-large": 48 },
};

/** The size that a `font-size` gives letters, in pixels, beside those of the parent and of the root. */
export function fontSizeIn(value: string, parent: number, root: number): number {
  const keyword = sizes[value];
  if (keyword !== undefined) return keyword;
  if (value === "smaller" || value === "larger") return value === "larger" ? parent * 1.2 : parent / 1.2;
  const own = { em: parent, ex: parent / 2, ch: parent / 2, lh: parent * 1.2, "%": parent / 100, rem: root };
  const size = pixels(value, own);
  return Number.isNaN(size) ? parent : Math.max(0, size);
}
