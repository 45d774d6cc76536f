import { type Element, isElement, type ParentNode } from "./dom.ts";

/**
 * An open element that a begin tag ends, with all that it holds, where a browser ends it. Ask again until there is none.
 * @see https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inbody, #parsing-main-intd and #parsing-main-inforeign
 */
export function endedByBegin(name: string, open: readonly ParentNode[]): Element | undefined {
  const parts = endedParts.get(name);
  if (parts !== undefined) return openParts(open)?.findLast((part) => parts.has(part.name));
  const foreign = htmlNames.has(name) ? foreignElement(open) : undefined;
  if (foreign !== undefined) return foreign;
  const items = endedItems.get(name);
  const item = items === undefined ? undefined : nearest(items, open, itemBorders);
  if (item !== undefined) return item;
  const paragraph = endsParagraph.has(name) ? nearest(paragraphs, open, markedBorders) : undefined;
  if (paragraph !== undefined || !headings.has(name)) return paragraph;
  const top = open.at(-1);
  return top !== undefined && isElement(top) && headings.has(top.name) ? top : undefined;
}

/** The element that an end tag ends, with all that it holds, where a browser ends it: that of a cell's block ends no block around the table. */
export function endedByEnd(name: string, open: readonly ParentNode[]): Element | undefined {
  const top = open.at(-1);
  if (top !== undefined && isElement(top) && top.name === name) return top;
  const names = headings.has(name) ? headings : new Set([name]);
  if (name === "template") return nearest(names, open, new Set());
  if (partNames.has(name) || name === "table") return nearest(names, open, tableBorders);
  if (name === "p") return nearest(names, open, paragraphBorders);
  if (name === "li") return nearest(names, open, listBorders);
  return nearest(names, open, blockNames.has(name) || markNames.has(name) ? borders : specialNames);
}

/** The innermost open element of one of these names, unless one of `ends` is nearer. */
function nearest(names: ReadonlySet<string>, open: readonly ParentNode[], ends: ReadonlySet<string>): Element | undefined {
  for (let i = open.length - 1; i >= 0; i--) {
    const element = open[i] as ParentNode;
    if (!isElement(element)) return undefined;
    if (names.has(element.name)) return element;
    if (ends.has(element.name)) return undefined;
  }
  return undefined;
}

/** What is open in the innermost table, from within. Nothing beside a table is a part of one. */
function openParts(open: readonly ParentNode[]): readonly Element[] | undefined {
  const parts: Element[] = [];
  for (let i = open.length - 1; i >= 0; i--) {
    const element = open[i] as ParentNode;
    if (!isElement(element) || element.name === "template") return undefined;
    if (element.name === "table") return parts;
    parts.push(element);
  }
  return undefined;
}

/** The element that a browser adds around a part of a table, if the innermost open element lacks it. */
export function addedAround(name: string, open: readonly ParentNode[]): string | undefined {
  const inside = addedIn.get(name);
  const top = open.at(-1);
  return inside !== undefined && top !== undefined && isElement(top) ? inside[top.name] : undefined;
}

/** The picture or formula that is open, unless it is left by an element for text. */
function foreignElement(open: readonly ParentNode[]): Element | undefined {
  for (let i = open.length - 1; i >= 0; i--) {
    const element = open[i] as ParentNode;
    if (!isElement(element) || htmlNames.has(element.name) || textHolders.has(element.name)) return undefined;
    if (element.name === "svg" || element.name === "math") return element;
  }
  return undefined;
}

const cells = ["td", "th"];
const sections = ["caption", "colgroup", "tbody", "tfoot", "thead"];
const endedParts: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...cells.map((name) => [name, new Set([...cells, "caption"])] as const),
  ["tr", new Set([...cells, "tr", "caption", "colgroup"])] as const,
  ["col", new Set([...cells, "tr", "caption", "tbody", "tfoot", "thead"])] as const,
  ...sections.map((name) => [name, new Set([...cells, "tr", ...sections])] as const),
]);
const partNames: ReadonlySet<string> = new Set(["tr", ...cells, ...sections]);
/** For each part of a table: what is added around it in which elements. */
const addedIn: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(
  Object.entries({
    ...Object.fromEntries(cells.map((name) => [name, { table: "tbody", tbody: "tr", thead: "tr", tfoot: "tr" }])),
    tr: { table: "tbody" },
    col: { table: "colgroup" },
  }),
);
/** What ends a picture or a formula, as it can be in none. */
const htmlNames: ReadonlySet<string> = new Set([
  ...["b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr"],
  ...["i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt"],
  ...["u", "ul", "var"],
]);
/** What holds HTML in a picture or a formula. */
const textHolders: ReadonlySet<string> = new Set(["annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title"]);

const headings: ReadonlySet<string> = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
const paragraphs: ReadonlySet<string> = new Set(["p"]);
const terms: ReadonlySet<string> = new Set(["dd", "dt"]);
const endedItems: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["li", new Set(["li"])],
  ["dd", terms],
  ["dt", terms],
]);
/** Blocks whose end tags look beyond other blocks. */
const blockNames: ReadonlySet<string> = new Set([
  ...["address", "applet", "article", "aside", "blockquote", "button", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption"],
  ...["figure", "footer", "form", "header", "hgroup", "listing", "main", "marquee", "menu", "nav", "object", "ol", "pre", "search", "section", "summary"],
  ...["template", "ul", ...headings],
]);
/** Marks of text, whose end tags do so, too. */
const markNames: ReadonlySet<string> = new Set(["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"]);
const endsParagraph: ReadonlySet<string> = new Set([
  ...["address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer"],
  ...["form", "header", "hgroup", "hr", "li", "listing", "main", "menu", "nav", "ol", "p", "plaintext", "pre", "search", "section", "summary", "table", "ul"],
  ...["xmp", ...headings],
]);

/** What an end tag never looks beyond. */
const borders: ReadonlySet<string> = new Set(["applet", "caption", "html", "marquee", "object", "table", "td", "template", "th", ...textHolders]);
const paragraphBorders: ReadonlySet<string> = new Set([...borders, "button"]);
/** A mark that is open in a paragraph goes on in the block behind it, so that it holds the block here. */
const markedBorders: ReadonlySet<string> = new Set([...paragraphBorders, ...markNames]);
const listBorders: ReadonlySet<string> = new Set([...borders, "ol", "ul"]);
const tableBorders: ReadonlySet<string> = new Set(["html", "table", "template"]);
/** What the end tag of any other element does not look beyond. */
const specialNames: ReadonlySet<string> = new Set([
  ...[...borders, ...blockNames, "body", "col", "colgroup", "frameset", "head", "iframe", "li", "noembed", "noframes", "noscript", "p", "plaintext"],
  ...["script", "select", "style", "tbody", "textarea", "tfoot", "thead", "tr", "xmp"],
]);
const itemBorders: ReadonlySet<string> = new Set([...specialNames].filter((name) => name !== "address" && name !== "div" && name !== "p"));
