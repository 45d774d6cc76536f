import { visibleText } from "@rockbot/contracts";
import { parseFeed } from "feedsmith";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { htmlToText } from "../text/html-to-text.ts";
import { plainText } from "../text/plain-text.ts";
import type { MarkdownPage, ToMarkdownOptions } from "../to-markdown.ts";
import { escapeTags, escapeText, inLink } from "../write/escape-text.ts";

/** What a feed says of itself or of one of its items, in whichever of the formats. */
interface Told {
  /** HTML, as the text is. */
  readonly title: string | undefined;
  readonly link: string | undefined;
  /** Its `xml:base`, and that of its text: its link and those of its text are relative to them. */
  readonly base?: string | undefined;
  readonly textBase?: string | undefined;
  readonly facts: readonly (string | undefined)[];
  /** HTML, which plain text mostly is, too. */
  readonly text: string | undefined;
}

/**
 * RSS, Atom, RDF or a JSON Feed as a list: for each item its title, which links to it, its date and author, and its
 * text.
 * @param url where it came from; links are resolved against it, unless an `xml:base` says another
 * @returns undefined if it is none of these, or broken
 * @throws {PageTooComplexError} if it becomes too long
 */
export function feedToMarkdown(
  text: string,
  url: string,
  { maxLength = 10_000_000 }: ToMarkdownOptions = {},
): MarkdownPage | undefined {
  const read = told(text);
  if (read === undefined) return undefined;
  const [channel, ...items] = read;
  const base = within(url, channel?.base);
  const parts = [headOf(channel as Told, items.length, base)];
  let length = 0;
  for (const item of items) {
    const part = itemOf(item, base, base !== url);
    length += part.length;
    if (length > maxLength) throw new PageTooComplexError(`more than ${maxLength} characters once it is converted`);
    parts.push(part);
  }
  return {
    title: line(channel?.title) || null,
    markdown: visibleText(parts.filter((part) => part !== "").join("\n\n")),
  };
}

/** The feed itself, then its items. */
function told(text: string): readonly Told[] | undefined {
  const parsed = readFeed(text);
  switch (parsed?.format) {
    case "rss": {
      const { title, link, description, language, lastBuildDate, xml, items = [] } = parsed.feed;
      const base = xml?.base ?? RSS_BASE.exec(text.slice(0, ROOT_LENGTH))?.[1];
      const item = (of: (typeof items)[number]): Told => ({
        base: of.xml?.base,
        title: of.title,
        link: of.link ?? permalink(of.guid),
        facts: [
          of.pubDate ?? of.dc?.dates?.[0],
          ...(of.authors ?? of.dc?.creators ?? []).map(nameOf),
          ...(of.categories ?? []).map(({ name }) => name),
        ],
        text: of.content?.encoded ?? of.description ?? of.itunes?.summary,
      });
      return [{ title, link, base, facts: [lastBuildDate, language], text: description }, ...items.map(item)];
    }
    case "atom": {
      const { title, subtitle, links, updated, xml, entries = [] } = parsed.feed;
      const entry = (of: (typeof entries)[number]): Told => ({
        base: of.xml?.base,
        textBase: (of.content ?? of.summary)?.xml?.base,
        title: ofAtom(of.title),
        link: alternate(of.links),
        facts: [
          of.published ?? of.updated,
          ...(of.authors ?? []).map(({ name }) => name),
          ...(of.categories ?? []).map(({ label, term }) => label ?? term),
        ],
        text: ofAtom(of.content) ?? ofAtom(of.summary) ?? of.media?.groups?.[0]?.description?.value,
      });
      return [
        {
          title: ofAtom(title),
          link: alternate(links),
          base: xml?.base,
          textBase: subtitle?.xml?.base,
          facts: [updated],
          text: ofAtom(subtitle),
        },
        ...entries.map(entry),
      ];
    }
    case "rdf": {
      const { title, link, description, xml, items = [] } = parsed.feed;
      const item = (of: (typeof items)[number]): Told => ({
        base: of.xml?.base,
        title: of.title,
        link: of.link,
        facts: [of.dc?.dates?.[0], ...(of.dc?.creators ?? [])],
        text: of.content?.encoded ?? of.description,
      });
      return [{ title, link, base: xml?.base, facts: [], text: description }, ...items.map(item)];
    }
    case "json": {
      const { title, home_page_url, description, language, items = [] } = parsed.feed;
      const item = (of: (typeof items)[number]): Told => ({
        title: literal(of.title),
        link: of.url ?? of.external_url,
        facts: [of.date_published, ...(of.authors ?? []).map(({ name }) => name), ...(of.tags ?? [])],
        text: of.content_html ?? literal(of.content_text ?? of.summary),
      });
      return [
        { title: literal(title), link: home_page_url, facts: [language], text: literal(description) },
        ...items.map(item),
      ];
    }
    default:
      return undefined;
  }
}

/** The reader of feeds passes over the base of RSS's root, where Drupal has it. */
const RSS_BASE = /<rss\b[^>]*?\sxml:base\s*=\s*["']([^"']*)/i;
const ROOT_LENGTH = 4_096;

/** The base of what stands inside. */
const within = (outer: string, base: string | undefined): string =>
  base === undefined ? outer : (URL.parse(base, outer)?.href ?? outer);

function readFeed(text: string) {
  try {
    return parseFeed(text);
  } catch {
    return undefined; // it has one error for all that is wrong with a feed
  }
}

/** Text that is no HTML, as HTML: what looks like a tag is shown, and a line ends where it ends. */
const literal = (text: string | undefined): string | undefined =>
  text?.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\n", " <br>");

/** A text of Atom says whether it is HTML; one that does not is none. */
const ofAtom = (text: { readonly value?: string; readonly type?: string } | undefined): string | undefined =>
  text?.type === "html" || text?.type === "xhtml" || text?.type === "text/html" ? text.value : literal(text?.value);

const nameOf = (
  author: string | { readonly name?: string | undefined; readonly email?: string | undefined },
): string | undefined => (typeof author === "string" ? author : (author.name ?? author.email));

/**
 * The name of an item is its address, unless the feed says that it is not. Some feeds forget to say so of what is no
 * address.
 */
function permalink({
  value = "",
  isPermaLink,
}: {
  readonly value?: string;
  readonly isPermaLink?: boolean;
} = {}): string | undefined {
  return isPermaLink === true || (isPermaLink === undefined && (value.startsWith("/") || URL.canParse(value)))
    ? value
    : undefined;
}

/** The address of what is meant for people. */
const alternate = (links: readonly { readonly href?: string; readonly rel?: string }[] = []): string | undefined =>
  (links.find(({ rel = "alternate" }) => rel === "alternate") ?? links[0])?.href;

function headOf({ link, textBase, facts, text }: Told, items: number, url: string): string {
  const about = [
    `A feed of ${items} ${items === 1 ? "item" : "items"}`,
    absolute(link, url),
    ...facts.map(fact),
  ].filter((part) => part !== "");
  return [about.join(" · "), prose(text, within(url, textBase))].filter((part) => part !== "").join("\n\n");
}

/**
 * @param isBased whether `url` is a base that the feed names. If nobody names one, an item's text is relative to its
 * address.
 */
function itemOf({ title, link, base, textBase, facts, text }: Told, url: string, isBased: boolean): string {
  const home = within(url, base);
  const address = absolute(link, home);
  const textHome = isBased || (base ?? textBase) !== undefined ? home : address || home;
  const name = inLink(fact(title)) || address || "(without a title)";
  const heading = address === "" ? `## ${name}` : `## [${name}](${address})`;
  const about = facts.map(fact).filter((part) => part !== "");
  return [heading, about.join(" · "), prose(text, within(textHome, textBase))]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** A text without markup: what still looks like a tag or a link is one that it speaks of. */
const prose = (html: string | undefined, url: string): string =>
  escapeTags(
    htmlToText(html ?? "", { url }).replaceAll(/\\+<?/g, (signs) =>
      signs.endsWith("<") ? signs.slice(0, -1) + signs : signs,
    ),
  )
    .replaceAll("](", "]\\(")
    .replaceAll(/\[(?=[^\]\n]{0,999}\]:)/g, "\\[");

const MAX_LINE = 500;
const line = (text: unknown): string => (text === undefined || text === null ? "" : plainText(String(text), MAX_LINE));
const fact = (text: unknown): string => escapeText(line(text));

/** An address that can be read, or an empty text. */
function absolute(link: string | undefined, url: string): string {
  const to = link === undefined ? null : URL.parse(link, url);
  return to !== null && /^https?:$/.test(to.protocol) ? to.href.replaceAll("(", "%28").replaceAll(")", "%29") : "";
}
