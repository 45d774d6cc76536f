import { elementsBelow, type ParentNode, textOf } from "../tree/dom.ts";

/** What a page says of itself to machines. */
export interface PageFacts {
  readonly title: string | null;
  /** `meta` elements by name or property, in lower case, the first of each. */
  readonly meta: ReadonlyMap<string, string>;
  /** Of `link` elements: by relation, the first of each. */
  readonly links: ReadonlyMap<string, string>;
  readonly language: string | null;
  /** Objects of JSON-LD, those within others included. */
  readonly things: readonly Thing[];
}

export type Thing = Readonly<Record<string, unknown>>;

const MAX_TITLE = 500;
const MAX_META = 2_000;
const MAX_JSON = 1_000_000;
const MAX_THINGS = 2_000;

/** Reads them before scripts are removed. Throws nothing: what cannot be read is not there. */
export function readFacts(document: ParentNode): PageFacts {
  const meta = new Map<string, string>();
  const links = new Map<string, string>();
  const things: Thing[] = [];
  let title: string | null = null;
  let language: string | null = null;
  let left = MAX_JSON;
  for (const element of elementsBelow(document, "html", "title", "meta", "link", "script")) {
    const { name, attribs } = element;
    if (name === "html") language ??= attribs["lang"]?.trim() || null;
    else if (name === "title") title ??= line(textOf(element), MAX_TITLE);
    else if (name === "meta") {
      const key = (attribs["property"] ?? attribs["name"] ?? attribs["itemprop"] ?? "").toLowerCase();
      const value = line(attribs["content"] ?? "", MAX_META);
      if (key !== "" && value !== null && !meta.has(key)) meta.set(key, value);
    } else if (name === "link") {
      for (const relation of (attribs["rel"] ?? "").toLowerCase().split(/\s+/)) {
        if (relation !== "" && attribs["href"] !== undefined && !links.has(relation)) links.set(relation, attribs["href"]);
      }
    } else if (/^application\/ld\+json/i.test(attribs["type"] ?? "")) {
      const text = textOf(element);
      left -= text.length;
      if (left > 0) collect(parsed(text), things, 0);
    }
  }
  return { title, meta, links, language, things };
}

const line = (text: string, maxLength: number): string | null => {
  const short = text.replaceAll(/\s+/g, " ").trim().slice(0, maxLength);
  return short === "" ? null : short;
};

function parsed(json: string): unknown {
  try {
    return JSON.parse(json.replace(/^\s*(?:<!--|\/\/<!\[CDATA\[|<!\[CDATA\[)/, "").replace(/(?:-->|\/\/\]\]>|\]\]>)\s*$/, ""));
  } catch {
    return undefined;
  }
}

const MAX_DEPTH = 12;

function collect(value: unknown, things: Thing[], depth: number): void {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH || things.length >= MAX_THINGS) return;
  if (!Array.isArray(value)) things.push(value as Thing);
  for (const inner of Object.values(value)) collect(inner, things, depth + 1);
}

/** The types of a thing, in lower case and without their vocabulary. */
export const typesOf = (thing: Thing): string[] =>
  [thing["@type"]]
    .flat()
    .filter((type) => typeof type === "string")
    .map((type) => type.replace(/^.*[/#:]/, "").toLowerCase());
