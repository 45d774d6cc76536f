import { plainText } from "../text/plain-text.ts";
import { ancestorsOf, type Element, type NamedElements, textOf } from "../tree/dom.ts";

/** What a page says of itself to machines. */
export interface PageFacts {
  readonly title: string | null;
  /** `meta` elements by name or property, in lower case, the first of each. */
  readonly meta: ReadonlyMap<string, string>;
  /** The first `link` element of each relation. */
  readonly links: ReadonlyMap<string, string>;
  readonly language: string | null;
  /** Objects of JSON-LD, those within others included. */
  readonly things: readonly Thing[];
  /** The things that are products, without what products hold: variants, accessories, and the subject of a review. */
  readonly products: readonly Thing[];
}

export type Thing = Readonly<Record<string, unknown>>;

const MAX_TITLE = 500;
const MAX_META = 2_000;
const MAX_JSON = 1_000_000;
const MAX_THINGS = 2_000;

/** Reads them before scripts are removed. Throws nothing: what cannot be read is not there. */
export function readFacts(named: NamedElements): PageFacts {
  const meta = new Map<string, string>();
  const links = new Map<string, string>();
  const found: FoundThings = { things: [], products: [] };
  let title: string | null = null;
  let language: string | null = null;
  let left = MAX_JSON;
  for (const element of ["html", "title", "meta", "link", "script"].flatMap(named)) {
    const { name, attribs } = element;
    if (name === "html") language ??= attribs["lang"]?.trim() || null;
    else if (name === "title") title ??= isOfPicture(element) ? null : line(textOf(element), MAX_TITLE);
    else if (name === "meta") {
      const key = (attribs["property"] ?? attribs["name"] ?? attribs["itemprop"] ?? "").toLowerCase();
      const value = line(attribs["content"] ?? "", MAX_META);
      if (key !== "" && value !== null && !meta.has(key)) meta.set(key, value);
    } else if (name === "link") {
      for (const relation of (attribs["rel"] ?? "").toLowerCase().split(/\s+/)) {
        if (relation !== "" && attribs["href"] !== undefined && !links.has(relation))
          links.set(relation, attribs["href"]);
      }
    } else if (/^application\/ld\+json/i.test(attribs["type"] ?? "")) {
      const text = textOf(element);
      left -= text.length;
      if (left > 0) collect(parsed(text), found, { depth: 0, isInProduct: false });
    }
  }
  return { title, meta, links, language, ...found };
}

const isOfPicture = (title: Element): boolean => [...ancestorsOf(title)].some(({ name }) => name === "svg");

const line = (text: string, maxLength: number): string | null => {
  const short = text.replaceAll(/\s+/g, " ").trim().slice(0, maxLength);
  return short === "" ? null : short;
};

/**
 * Line ends within a text, which JSON does not allow, are read as spaces: many sites write them, and search engines
 * read them.
 */
function parsed(json: string): unknown {
  const text = json.replace(/^\s*(?:<!--|\/\/<!\[CDATA\[|<!\[CDATA\[)/, "").replace(/(?:-->|\/\/\]\]>|\]\]>)\s*$/, "");
  return (fromJson(text) ?? fromJson(text.replaceAll(/\p{Cc}+/gu, " ")))?.value;
}

function fromJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const MAX_DEPTH = 12;

interface FoundThings {
  readonly things: Thing[];
  readonly products: Thing[];
}

function collect(
  value: unknown,
  found: FoundThings,
  { depth, isInProduct }: { readonly depth: number; readonly isInProduct: boolean },
): void {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH || found.things.length >= MAX_THINGS) return;
  let isProduct = isInProduct;
  if (!Array.isArray(value)) {
    const thing = value as Thing;
    found.things.push(thing);
    isProduct ||= typesOf(thing).some((type) => type === "product" || type === "productgroup");
    if (isProduct && !isInProduct) found.products.push(thing);
  }
  for (const inner of Object.values(value)) collect(inner, found, { depth: depth + 1, isInProduct: isProduct });
}

/** The types of a thing, in lower case and without their vocabulary. */
export const typesOf = (thing: Thing): string[] =>
  [thing["@type"]]
    .flat()
    .filter((type) => typeof type === "string")
    .map((type) => type.replace(/^.*[/#:]/, "").toLowerCase());

const MAX_TEXT = 10_000;

/**
 * A text or number of a thing on one line. Some sites write such values as HTML, and some of them as HTML whose tags
 * are escaped.
 */
export function lineOf(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const once = withoutTags(String(value).slice(0, MAX_TEXT));
  const line = once.search(blockTag) < 0 ? once : withoutTags(once);
  return line === "" ? undefined : line;
}

const blockTag = /<\/?(?:p|div|br|li|ul|h\d)\b[^<>]*>/gi;
const withoutTags = (html: string): string => plainText(html.toWellFormed().replaceAll(blockTag, " $&"), MAX_TEXT);
