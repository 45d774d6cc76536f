import { load } from "cheerio";
import { marked } from "marked";
import type { MeasuredPage } from "./read-set.ts";
import { keptOf, keptStructure, type Structure } from "./structure.ts";
import { type Agreement, compareWords, runOf, wordsOf } from "./words.ts";

/** How good one page's markdown is. */
export interface PageScore extends Agreement {
  /** How many words the content has. With none, only an empty page agrees. */
  readonly words: number;
  /** How many pieces outside the content came through. */
  readonly leaked: number;
  readonly unwanted: number;
  /** How many pieces of the content came through. */
  readonly came: number;
  readonly wanted: number;
  /** Characters that came for each of the truth. */
  readonly bloat: number;
  readonly structure: Structure;
}

/**
 * Scores markdown by the text that it shows: words are compared as bags, without case; front matter does not count.
 * Structure is looked for in what the markdown becomes as HTML.
 */
export function scorePage(markdown: string, { html, truth }: MeasuredPage): PageScore {
  const rendered = renderMarkdown(markdown);
  const text = shownText(rendered);
  const run = runOf(text);
  const truthRun = runOf(truth.mainContent);
  const isIn = (piece: string): boolean => run.includes(runOf(piece));
  const unwanted = (truth.without ?? []).filter(
    (piece) => wordsOf(piece).length > 0 && !truthRun.includes(runOf(piece)),
  );
  const wanted = (truth.with ?? []).filter((piece) => wordsOf(piece).length > 0);
  const words = wordsOf(truth.mainContent);
  return {
    ...compareWords(wordsOf(text), words),
    words: words.length,
    leaked: unwanted.filter(isIn).length,
    unwanted: unwanted.length,
    came: wanted.filter(isIn).length,
    wanted: wanted.length,
    bloat: squeezed(text).length / Math.max(1, squeezed(truth.mainContent).length),
    structure:
      truth.structure === undefined ? keptStructure(html, rendered, truthRun) : keptOf(truth.structure, rendered),
  };
}

function renderMarkdown(markdown: string): string {
  return marked.parse(markdown.replace(/^---\n[\s\S]*?\n---\n/, ""), { async: false, gfm: true });
}

/** The text that HTML shows, with blocks apart. */
function shownText(html: string): string {
  return load(
    html.replaceAll(/<(?=\/?(?:p|h[1-6]|li|ul|ol|tr|t[dh]|br|hr|pre|blockquote|div)\b)/g, " <"),
    null,
    false,
  ).text();
}

const squeezed = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
