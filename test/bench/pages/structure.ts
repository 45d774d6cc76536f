import { type CheerioAPI, load } from "cheerio";
import type { TruthStructure } from "./read-set.ts";
import { runOf, wordsOf } from "./words.ts";

export const structureKinds = ["headings", "code", "items", "rows", "links"] as const;
export type StructureKind = (typeof structureKinds)[number];

type Document = ReturnType<CheerioAPI["root"]>[number];
type Node = Document | Document["children"][number];

/** For each kind, how many the page has in its content, and how many of them the markdown has. */
export type Structure = Readonly<Record<StructureKind, { readonly there: number; readonly kept: number }>>;

const selectors: Readonly<Record<StructureKind, string>> = {
  headings: "h1, h2, h3, h4, h5, h6",
  code: "pre",
  items: "li",
  rows: "tr",
  links: "a[href]",
};
/** A shorter one may be anywhere. */
const LEAST_WORDS = 2;
/** Such words as a menu has stand in the content's text by chance, too. */
const beside =
  "script, style, template, noscript, nav, footer, [role=navigation], [role=contentinfo], [role=banner], body > header";

/** So many characters have the word that stands beside an element, or it has none. */
const NEAR = 200;
const inlineNames: ReadonlySet<string> = new Set(
  "a abbr b bdi bdo cite code data del dfn em font i img ins kbd mark q s samp small span strong sub sup time tt u var wbr".split(
    " ",
  ),
);

/**
 * Counts the headings, code, items, rows and links of the page, and those of the markdown among them. Only those of the
 * page count whose words stand together in the content's text, with the word before or behind them on the page. An
 * entry of a table of contents has the words of its heading: only where the content has the table it stands beside the
 * next entry. Two headings may stand together as their entries do: an entry counts only where the text has its words
 * twice. Each text counts once, and none of what stands in navigation, footers and the page's header. A link has to
 * lead somewhere, and to be absolute. A row of one cell only lays out. Code may lose its line numbers, and a link
 * around a heading the words around that.
 * @param rendered the markdown as HTML
 * @param truthRun the words of the content, from `runOf`
 */
export function keptStructure(html: string, rendered: string, truthRun: string): Structure {
  const page = load(html);
  const result = load(rendered);
  page(beside).remove();
  page("pre a").removeAttr("href"); // markdown's code has no links
  for (const row of page("tr").toArray()) if (page(row).children("td, th").length < 2) row.name = "div";
  const besideOf = wordsBeside(page.root()[0] as Document);
  const headings = textsOf(page, "headings", () => true);
  const isEntry = (element: Node): boolean =>
    "attribs" in element && (element.attribs["href"]?.startsWith("#") ?? false);
  const isHeadings = (run: string, elements: readonly Node[]): boolean =>
    headings.has(run) && elements.every(isEntry) && truthRun.split(run.slice(0, -1)).length === 2;
  const isContent = (run: string, elements: readonly Node[]): boolean =>
    truthRun.includes(run) &&
    elements.some((element) => {
      const [before, after] = besideOf(element);
      return (
        (before !== undefined && truthRun.includes(` ${before}${run}`)) ||
        (after !== undefined && truthRun.includes(`${run}${after} `))
      );
    });
  return Object.fromEntries(
    structureKinds.map((kind) => {
      const there = [...textsOf(page, kind, leadsSomewhere)].filter(
        ([run, { elements }]) => isContent(run, elements) && !isHeadings(run, elements),
      );
      const found = textsOf(result, kind, (href) => /^(?:https?|mailto|tel|sms):/.test(href));
      return [
        kind,
        { there: there.length, kept: there.filter(([run, { bare }]) => found.has(run) || found.has(bare)).length },
      ];
    }),
  ) as unknown as Structure;
}

/** The words right before and right behind an element of the document. */
function wordsBeside(document: Document): (node: Node) => readonly [string | undefined, string | undefined] {
  let text = "";
  const places = new Map<Node, readonly [start: number, end: number]>();
  add(document);
  return (node) => {
    const [start, end] = places.get(node) ?? [0, 0];
    return [wordsOf(text.slice(Math.max(0, start - NEAR), start)).at(-1), wordsOf(text.slice(end, end + NEAR))[0]];
  };

  function add(node: Node): void {
    const space = "name" in node && !inlineNames.has(node.name) ? " " : "";
    text += space;
    const start = text.length;
    if (node.type === "text") text += node.data;
    if ("children" in node) for (const child of node.children) add(child);
    places.set(node, [start, text.length]);
    text += space;
  }
}

const leadsSomewhere = (href: string): boolean =>
  !/^\s*(?:javascript:|#?\s*$|#(?:!|0|top)\s*$)/i.test(href) && URL.canParse(href, "https://example.test");

interface Found {
  /** What may stand for the whole. */
  readonly bare: string;
  readonly elements: Node[];
}

/** Each text once. */
function textsOf(
  $: CheerioAPI,
  kind: StructureKind,
  isLink: (href: string) => boolean,
  leastWords = LEAST_WORDS,
): ReadonlyMap<string, Found> {
  const texts = new Map<string, Found>();
  for (const element of $(selectors[kind]).toArray()) {
    if (kind === "links" && !isLink($(element).attr("href") ?? "")) continue;
    const copy = $(element).clone();
    if (kind === "items") copy.find("ul, ol, menu").remove();
    copy.find("td, th, br, p, div, li, h1, h2, h3, h4, h5, h6").before(" ").after(" ");
    const text = copy.text();
    const heading = kind === "links" ? copy.find("h1, h2, h3, h4, h5, h6").first().text() : "";
    dropLineNumbers(copy);
    if (wordsOf(text).length < leastWords) continue;
    const found = texts.get(runOf(text)) ?? { bare: runOf(heading === "" ? copy.text() : heading), elements: [] };
    found.elements.push(element);
    texts.set(runOf(text), found);
  }
  return texts;
}

/** Drops the elements in code that hold nothing but the number of their line. */
function dropLineNumbers(copy: ReturnType<CheerioAPI>): void {
  let line = 1;
  for (const part of copy.find(copy.is("pre") ? "*" : "pre *").toArray()) {
    const [first, second] = part.children;
    const only = first?.type === "text" && second === undefined ? first.data.trim() : "";
    if (only === "1") line = 1;
    if (only !== String(line)) continue;
    part.children = [];
    line++;
  }
}

/**
 * As `keptStructure`, for content of which the truth says what it has. Code is compared line by line, with its
 * language, and links with their addresses.
 */
export function keptOf(truth: TruthStructure, rendered: string): Structure {
  const $ = load(rendered);
  const codes = new Set<string>();
  for (const element of $("pre").toArray()) {
    const text = linesOf($(element).text());
    const language = /\blanguage-(\S+)/.exec($(element).find("code").attr("class") ?? "")?.[1];
    codes.add(text).add(`${language}:${text}`);
  }
  const links = new Set(
    $("a[href]")
      .toArray()
      .map((element) => linkKey($(element).text(), $(element).attr("href") ?? "")),
  );
  const count = <T>(wanted: readonly T[], isKept: (one: T) => boolean): Structure[StructureKind] => ({
    there: wanted.length,
    kept: wanted.filter(isKept).length,
  });
  const countTexts = (kind: "headings" | "items" | "rows"): Structure[StructureKind] => {
    const found = textsOf($, kind, () => true, 1);
    return count(truth[kind], (text) => found.has(runOf(text)));
  };
  return {
    headings: countTexts("headings"),
    code: count(truth.code, ({ text, language }) =>
      codes.has(language === undefined ? linesOf(text) : `${language}:${linesOf(text)}`),
    ),
    items: countTexts("items"),
    rows: countTexts("rows"),
    links: count(truth.links, ({ text, url }) => links.has(linkKey(text, url))),
  };
}

const linesOf = (code: string): string => code.replaceAll(/[ \t]+$/gm, "").replaceAll(/^\n+|\n+$/g, "");

function linkKey(text: string, href: string): string {
  const url = URL.parse(href);
  for (const name of [...(url?.searchParams.keys() ?? [])])
    if (/^utm_|^fbclid$/.test(name)) url?.searchParams.delete(name);
  return `${runOf(text)}${url?.href ?? href}`;
}
