import { visibleText } from "@rockbot/contracts";
import { lineOf, type PageFacts, type Thing, typesOf } from "./page-facts.ts";
import { productOf } from "./product-facts.ts";

/** What a page says of itself, each on one line; undefined what it does not say. */
export interface PageMetadata {
  readonly title?: string | undefined;
  /** The address that the page wants to be known by. */
  readonly url?: string | undefined;
  readonly site?: string | undefined;
  readonly author?: string | undefined;
  /** As the page writes it, mostly ISO 8601. */
  readonly date?: string | undefined;
  readonly language?: string | undefined;
  /** Such as `article` or `product`. */
  readonly type?: string | undefined;
  /** The price of the one product that the page sells. */
  readonly price?: string | undefined;
  readonly brand?: string | undefined;
  readonly availability?: string | undefined;
}

const MAX_LENGTH = 300;

/** @param base what the page's addresses are relative to */
export function metadataOf(facts: PageFacts, base: URL | undefined): PageMetadata {
  const { meta, links, language } = facts;
  const product = productOf(facts);
  const main = facts.things.find((thing) => typesOf(thing).some((type) => mainTypes.has(type)));
  return {
    title: clean(facts.title ?? meta.get("og:title")),
    url: address(links.get("canonical") ?? meta.get("og:url"), base),
    site: clean(meta.get("og:site_name") ?? meta.get("application-name") ?? nameOf(main?.["publisher"])),
    author: clean(
      nameOf(main?.["author"]) ??
        meta.get("author") ??
        plain(meta.get("article:author")) ??
        meta.get("dc.creator") ??
        meta.get("citation_author"),
    ),
    date: clean(dateOf(main, meta)),
    language: /^[a-z]{2,3}(?:[-_][\w-]{2,20})?$/i.test(language ?? "") ? (language ?? undefined) : undefined,
    type: clean(typesOf(main ?? {})[0] ?? meta.get("og:type")),
    price: clean(product?.price),
    brand: clean(product?.brand),
    availability: clean(product?.availability),
  };
}

const mainTypes: ReadonlySet<string> = new Set([
  ...[
    "article",
    "newsarticle",
    "blogposting",
    "techarticle",
    "reportagenewsarticle",
    "liveblogposting",
    "scholarlyarticle",
    "report",
    "product",
    "productgroup",
  ],
  ...[
    "recipe",
    "howto",
    "qapage",
    "discussionforumposting",
    "course",
    "event",
    "jobposting",
    "book",
    "movie",
    "softwareapplication",
    "faqpage",
    "collectionpage",
  ],
]);

function dateOf(main: Thing | undefined, meta: ReadonlyMap<string, string>): string | undefined {
  const said = main?.["datePublished"] ?? main?.["dateCreated"] ?? main?.["dateModified"];
  if (typeof said === "string") return said;
  for (const name of [
    "article:published_time",
    "date",
    "datepublished",
    "dc.date",
    "citation_publication_date",
    "article:modified_time",
  ]) {
    const found = meta.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

const MAX_NAMES = 5;

/** The name of a person or an organization, or the names of several. */
function nameOf(value: unknown): string | undefined {
  const names = [value].flat().slice(0, MAX_NAMES);
  const said = names.map((one) => [typeof one === "object" && one !== null ? (one as Thing)["name"] : one].flat()[0]);
  // An address for mail stands in angle brackets.
  const read = said.map((name) => (typeof name === "string" && name.includes("<") ? name : lineOf(name)));
  return read.flatMap((name) => plain(name) ?? []).join(", ") || undefined;
}

/** An address is no name. */
const plain = (text: string | undefined): string | undefined =>
  text === undefined || /^https?:/i.test(text.trim()) ? undefined : text;

function clean(text: string | undefined): string | undefined {
  const line = visibleText(text ?? "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_LENGTH)
    .toWellFormed();
  return line === "" ? undefined : line;
}

function address(text: string | undefined, base: URL | undefined): string | undefined {
  const url = text === undefined || text.length > 2_000 ? null : URL.parse(text, base?.href);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

/** Metadata as YAML front matter with quoted values; "" where a page says no more of itself than its title. */
export function frontMatter(metadata: PageMetadata): string {
  const entries = Object.entries(metadata).filter(([, value]) => value !== undefined);
  if (entries.every(([name]) => name === "title")) return "";
  // In YAML's double quotes JSON's escapes mean the same, and no reader of markdown takes anything in them for a tag or
  // a link.
  const quoted = (value: string): string =>
    JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("](", "]\\u0028");
  return `---\n${entries.map(([name, value]) => `${name}: ${quoted(value as string)}\n`).join("")}---\n`;
}
