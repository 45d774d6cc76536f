import { pixels } from "./css-values.ts";

const MAX_CHARACTERS = 200;
/** No window of a computer is narrower, and each is as wide as the second. */
const NARROW_PX = 800;
const USUAL_PX = 1000;

const WIDTH = String.raw`\s*(\d*\.?\d+(?:px|r?em))\s*`;
const least = new RegExp(String.raw`^\((?:\s*min-width\s*:${WIDTH}|\s*width\s*>=?${WIDTH}|${WIDTH}<=?\s*width\s*)\)$`);
const most = new RegExp(
  String.raw`^\((?:\s*max(?:-device)?-width\s*:${WIDTH}|[^:]*\bwidth\s*<=?${WIDTH}|${WIDTH}>=?\s*width\b.*)\)$`,
);
const widthIn = (pattern: RegExp, feature: string): number =>
  pixels(pattern.exec(feature)?.find((part, i) => i > 0 && part !== undefined) ?? "");

/**
 * What a list of media is for: all computers' screens, none of them, or some, where it asks for more than is looked at.
 */
export function mediaFor(media: string): "screens" | "some" | "others" {
  if (media.length > MAX_CHARACTERS || /[^\t\n\f\r -~]/.test(media)) return "some";
  const list = media
    .replaceAll(/\/\*.*?(?:\*\/|$)/gs, " ")
    .trim()
    .toLowerCase();
  const queries = list.split(",").map((query) => query.trim().split(/\s+and\s+(?=\()/));
  if (list === "" || queries.some(isEverywhere)) return "screens";
  return queries.every(isElsewhere) ? "others" : "some";
}

/** Tells whether a media query matches every computer's screen: it asks for nothing else, or for a usual width. */
function isEverywhere(query: readonly string[]): boolean {
  const [feature, ...more] = /^(?:only\s+)?(?:all|screen)$/.test(query[0] ?? "") ? query.slice(1) : query;
  return more.length === 0 && (feature === undefined || widthIn(least, feature) <= USUAL_PX);
}

/** Tells whether a query matches only paper, speech or narrow windows. */
function isElsewhere([first = "", ...features]: readonly string[]): boolean {
  if (/^not\s+(?:all|screen)$/.test(first))
    return features.length === 1 && widthIn(least, features[0] ?? "") <= NARROW_PX;
  if (!features.every((feature) => /^\([^()]*\)$/.test(feature))) return false;
  if (/^(?:only\s+)?(?:print|speech)$/.test(first)) return true;
  return (
    /^(?:(?:only\s+)?[a-z]+|\([^()]*\))$/.test(first) &&
    [first, ...features].some((it) => widthIn(most, it) < NARROW_PX)
  );
}
