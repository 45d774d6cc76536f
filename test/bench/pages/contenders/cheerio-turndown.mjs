import { load } from "cheerio";
import TurndownService from "turndown";

const turndown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" });

/** @type {import("../contenders.ts").Convert} */
export function convert(html) {
  const $ = load(html);
  $("script, style, noscript, template, iframe, svg, form, nav, header, footer, aside").remove();
  const root = ["main", "[role=main]", "article", "body"]
    .map((selector) => $(selector).first())
    .find((found) => found.length > 0);
  return turndown.turndown(root?.html() ?? "");
}
