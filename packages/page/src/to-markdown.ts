import { visibleText } from "@rockbot/contracts";
import { frontMatter, metadataOf } from "./content/page-metadata.ts";
import { missingDescription, productOf } from "./content/product-facts.ts";
import { readContent } from "./content/read-content.ts";
import { cleanTexts } from "./tree/clean-texts.ts";
import { flattenTables } from "./tree/flatten-tables.ts";
import { keepPictures } from "./tree/keep-pictures.ts";
import { linkCode } from "./tree/link-code.ts";
import { linkHeadings, partLinks } from "./tree/link-headings.ts";
import { markCode } from "./tree/mark-code.ts";
import { markMeanings } from "./tree/mark-meanings.ts";
import { markNotes } from "./tree/mark-notes.ts";
import { numberItems } from "./tree/number-items.ts";
import { resolveLinks } from "./tree/resolve-links.ts";
import { escapeText } from "./write/escape-text.ts";
import { flattenLines } from "./write/flatten-lines.ts";
import { writeMarkdown } from "./write/write-markdown.ts";

/** A page as markdown. */
export interface MarkdownPage {
  readonly title: string | null;
  readonly markdown: string;
  /** The page is drawn by its scripts, so that this is what it holds without them. */
  readonly needsBrowser?: true;
  /** It is the beginning of a document that is too long to be read whole. */
  readonly isBeginning?: true;
  /** Some of a document's text could not be read, which its markdown says in its place. */
  readonly lacksText?: true;
  /** What an HTML page says of itself, as YAML between lines of `---`; left out where it says nothing but its title. */
  readonly frontMatter?: string;
}

/** The bound of what a page becomes, and how much of it. */
export interface ToMarkdownOptions {
  /** The longest markdown, in UTF-16 code units. @default 10_000_000 */
  readonly maxLength?: number | undefined;
  /** True to keep all that people see, as for a letter or a document, and not only the content. @default false */
  readonly isWhole?: boolean | undefined;
}

/**
 * The readable content of an HTML page as GitHub-flavoured markdown. Which blocks of the page are its content is
 * learnt; of a page that has text there is always some. A description of the product that the page gives to machines
 * alone follows, where the page itself has no text of it. A picture is kept where it has an alternative text. In a link
 * that has no other text, that text stands for it.
 * @param url where the page came from; its links are resolved against it
 * @throws {PageTooComplexError} if the page has too many nodes, or becomes too long
 */
export function toMarkdown(
  html: string,
  url: string,
  { maxLength = 10_000_000, isWhole = false }: ToMarkdownOptions = {},
): MarkdownPage {
  const { facts, base, root } = readContent(html, url, isWhole);
  cleanTexts(root);
  markNotes(root);
  markMeanings(root);
  partLinks(root);
  linkHeadings(root);
  resolveLinks(root, base, { maxLength });
  keepPictures(root, base);
  markCode(root);
  flattenLines(root);
  linkCode(root);
  numberItems(root);
  flattenTables(root);
  const markdown = writeMarkdown(root, { maxLength });
  const description = isWhole ? undefined : missingDescription(productOf(facts) ?? {}, markdown);
  const about = isWhole ? "" : frontMatter(metadataOf(facts, base));
  return {
    ...(about !== "" && { frontMatter: about }),
    title: facts.title === null ? null : visibleText(facts.title),
    markdown: description === undefined ? markdown : `${markdown}\n\n${escapeText(description)}`.trim(),
  };
}
