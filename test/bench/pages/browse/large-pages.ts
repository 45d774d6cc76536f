import { join } from "node:path";
import { readSet } from "../read-set.ts";

const MEGABYTE = 1_000_000;
/** Of a page: large pages of the web have some 4,000 elements, and the rest in scripts, styles and state. */
const STATE_SHARE = 0.77;

/** So many different pages of a megabyte each, made of pages of the corpus, one below the other, and of a script that no reader sees. */
export async function largePages(count: number): Promise<string[]> {
  const bodies = (await readSet(join(import.meta.dirname, "../corpus"))).map(({ html }) => /<body[^>]*>([\s\S]*)<\/body>/.exec(html)?.[1] ?? html);
  const state = `<script>window.state = ${JSON.stringify("x".repeat(STATE_SHARE * MEGABYTE))};</script>`;
  return Array.from({ length: count }, (_, page) => {
    let text = "";
    for (let index = page; text.length < (1 - STATE_SHARE) * MEGABYTE; index++) {
      text += `<section><h2>Part ${index - page + 1} of page ${page + 1}</h2>${bodies[index % bodies.length]}</section>\n`;
    }
    return `<!doctype html><html lang="en"><head><title>Page ${page + 1}</title>${state}</head><body><main>${text}</main></body></html>`;
  });
}

/** Pages that take the converter as long as it lets them, each of about a megabyte. */
export const hostilePages: readonly string[] = [
  `<main>${"<div>".repeat(190_000)}deep`,
  `<main>${"<b>a<p>".repeat(140_000)}`,
  `<main><table>${"<tr><td>a<td>b".repeat(70_000)}</table>`,
  `<style>${Array.from({ length: 20_000 }, (_, i) => `main p:nth-child(${i}) ~ p > b { color: red }`).join("\n")}</style><main>${"<p><b>a</b></p>".repeat(2_000)}`,
];
