import { join } from "node:path";
import { readSet } from "../read-set.ts";

const MEGABYTE = 1_000_000;
/**
 * The share of a page that is in scripts, styles and state: large pages of the web have some 4,000 elements besides.
 */
const STATE_SHARE = 0.77;

/**
 * So many different pages of a megabyte each, made of pages of the corpus, one below the other, and of a script that no
 * reader sees.
 */
export async function largePages(count: number): Promise<string[]> {
  const bodies = (await readSet(join(import.meta.dirname, "../corpus"))).map(
    ({ html }) => /<body[^>]*>([\s\S]*)<\/body>/.exec(html)?.[1] ?? html,
  );
  const state = `<script>window.state = ${JSON.stringify("x".repeat(STATE_SHARE * MEGABYTE))};</script>`;
  return Array.from({ length: count }, (_, page) => {
    let text = "";
    for (let index = page; text.length < (1 - STATE_SHARE) * MEGABYTE; index++) {
      text += `<section><h2>Part ${index - page + 1} of page ${page + 1}</h2>${bodies[index % bodies.length]}</section>\n`;
    }
    return `<!doctype html><html lang="en"><head><title>Page ${page + 1}</title>${state}</head><body><main>${text}</main></body></html>`;
  });
}

const many = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => part(index)).join("");

/**
 * Pages that cost the converter what it lets a page cost, each just below one of its bounds: blocks, selectors, values,
 * depth, repetition, nodes.
 */
export const hostilePages: readonly string[] = [
  `<main>${"<p>some words of a text".repeat(19_900)}`,
  `<style>${many(120, (index) => `main p:nth-child(${index}) ~ p > b { color: red }\n`)}</style><main>${"<p><b>some words</b></p>".repeat(500)}`,
  `<main>${many(12_000, (index) => `<p style="left: calc(${index}px * 2)">some words`)}`,
  `<main>${"<div>".repeat(190_000)}deep`,
  `<main>${"<blockquote>".repeat(100)}${"some words<br>".repeat(15_000)}`,
  `<main><table>${"<tr><td>a<td>b".repeat(39_000)}</table>`,
];
