import { visibleText } from "@rockbot/contracts";
import { load } from "cheerio/slim";
import { textOf } from "../tree/dom.ts";

/**
 * The text of a piece of HTML on one line: no tags, no entities, no characters that steer a terminal or turn the
 * reading direction.
 */
export function plainText(html: string, maxLength: number): string {
  const $ = load(html.slice(0, maxLength * 8));
  $("script, style").remove();
  const text = $.root()
    .toArray()
    .map((root) => textOf(root))
    .join("");
  const line = visibleText(text).replaceAll(/\s+/g, " ").trim();
  const shown = [...line].slice(0, maxLength);
  return shown.length < line.length && [...line].length > maxLength ? `${shown.join("").trimEnd()}…` : line;
}
