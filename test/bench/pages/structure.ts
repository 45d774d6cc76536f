import { type CheerioAPI, load } from "cheerio";
import { runOf, wordsOf } from "./words.ts";

export const structureKinds = ["headings", "code", "items", "rows", "links"] as const;
export type StructureKind = (typeof structureKinds)[number];

/** Of each kind: how many the page has in its content, and how many of them the markdown has. */
export type Structure = Readonly<Record<StructureKind, { readonly there: number; readonly kept: number }>>;

const selectors: Readonly<Record<StructureKind, string>> = { headings: "h1, h2, h3, h4, h5, h6", code: "pre", items: "li", rows: "tr", links: "a[href]" };
/** A shorter one may be anywhere. */
const LEAST_WORDS = 2;

/**
 * Whether what is a heading, code, an item, a row or a link of the page is one of the markdown. Of the page those count whose words stand together in the
 * content's text; each text once. A link has to be absolute.
 * @param rendered the markdown as HTML
 * @param truthRun the words of the content, from `runOf`
 */
export function keptStructure(html: string, rendered: string, truthRun: string): Structure {
  const page = load(html);
  const result = load(rendered);
  page("script, style, template, noscript").remove();
  return Object.fromEntries(
    structureKinds.map((kind) => {
      const there = textsOf(page, kind, () => true).filter((run) => truthRun.includes(run));
      const found = new Set(textsOf(result, kind, (href) => /^(?:https?|mailto):/.test(href)));
      return [kind, { there: there.length, kept: there.filter((run) => found.has(run)).length }];
    }),
  ) as unknown as Structure;
}

function textsOf($: CheerioAPI, kind: StructureKind, isLink: (href: string) => boolean): string[] {
  const texts = $(selectors[kind])
    .toArray()
    .flatMap((element) => {
      if (kind === "links" && !isLink($(element).attr("href") ?? "")) return [];
      const copy = $(element).clone();
      if (kind === "items") copy.find("ul, ol, menu").remove();
      copy.find("td, th, br, p, div, li, h1, h2, h3, h4, h5, h6").before(" ").after(" ");
      return wordsOf(copy.text()).length < LEAST_WORDS ? [] : [runOf(copy.text())];
    });
  return [...new Set(texts)];
}
