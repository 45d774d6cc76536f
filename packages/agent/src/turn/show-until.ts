import { isWithinPair } from "@rockbot/base";

/**
 * Takes a text in parts, and gives what can be shown by then: what stands before the first stop. The end of the text
 * may be the beginning of one.
 */
export function showUntil(stops: readonly string[] = []): (delta: string, isLast?: boolean) => string {
  const longest = Math.max(0, ...stops.map(({ length }) => length - 1));
  let [text, shown] = ["", 0];
  return (delta, isLast = false) => {
    text += delta;
    const found = stops.map((stop) => text.indexOf(stop, shown)).filter((at) => at >= 0);
    const from = shown;
    const end = Math.min(text.length - (isLast ? 0 : longest), ...found);
    shown = Math.max(from, isWithinPair(text, end) ? end - 1 : end);
    return text.slice(from, shown);
  };
}
