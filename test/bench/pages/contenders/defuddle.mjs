import { Defuddle } from "defuddle/node";
import { parseHTML } from "linkedom";

/** @type {import("../contenders.ts").Convert} */
export async function convert(html, url) {
  const { document } = parseHTML(html);
  // No request may leave: defuddle would ask the services behind some pages.
  return (await Defuddle(document, url, { markdown: true, useAsync: false })).content;
}
