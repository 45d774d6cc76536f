import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { NodeHtmlMarkdown } from "node-html-markdown";

const markdown = new NodeHtmlMarkdown();

/** @type {import("../contenders.ts").Convert} */
export function convert(html, url) {
  const { document } = parseHTML(html);
  const base = document.createElement("base");
  base.setAttribute("href", url);
  if (document.querySelector("base[href]") === null) document.head.prepend(base);
  return markdown.translate(new Readability(document).parse()?.content ?? "");
}
