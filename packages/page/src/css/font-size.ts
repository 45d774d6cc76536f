import { pixels } from "./css-values.ts";

/** What a browser begins with, in pixels. */
export const MEDIUM_PX = 16;

const keywords: Readonly<Record<string, number>> = {
  ...{
    "xx-small": 9,
    "x-small": 10,
    small: 13,
    medium: MEDIUM_PX,
    large: 18,
    "x-large": 24,
    "xx-large": 32,
    "xxx-large": 48,
  },
};

/** What a size is relative to, in pixels. */
export interface FontSizes {
  readonly parent: number;
  readonly root: number;
}

/** The size that a `font-size` gives letters, in pixels; that of the parent for what is no size. */
export function fontSizeIn(value: string, { parent, root }: FontSizes): number {
  const keyword = keywords[value];
  if (keyword !== undefined) return keyword;
  if (value === "smaller" || value === "larger") return value === "larger" ? parent * 1.2 : parent / 1.2;
  const size = pixels(value, {
    em: parent,
    ex: parent / 2,
    ch: parent / 2,
    cap: parent * 0.7,
    ic: parent,
    lh: parent * 1.2,
    "%": parent / 100,
    rem: root,
    rlh: root * 1.2,
  });
  return Number.isNaN(size) ? parent : Math.max(0, size);
}
