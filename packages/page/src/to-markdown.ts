import { visibleText } from "@rockbot/contracts";
import { frontMatter, metadataOf, type PageMetadata } from "./content/page-metadata.ts";
import { readContent } from "./content/read-content.ts";
import { createTurndown } from "./create-turndown.ts";
import { PageTooComplexError } from "./page-too-complex-error.ts";
import { elementsBelow, type ParentNode } from "./tree/dom.ts";
import { flattenTables } from "./tree/flatten-tables.ts";
import { keepPictures } from "./tree/keep-pictures.ts";
import { linkHeadings } from "./tree/link-headings.ts";
import { markCode } from "./tree/mark-code.ts";
import { markNotes } from "./tree/mark-notes.ts";
import { numberItems } from "./tree/number-items.ts";
import { resolveLinks } from "./tree/resolve-links.ts";

/** A page as markdown. */
export interface MarkdownPage {
  readonly title: string | null;
  readonly markdown: string;
  /** The page is drawn by its scripts, so that this is what it holds without them. */
  readonly needsBrowser?: true;
  /** What an HTML page says of itself, as YAML between lines of `---`; left out where it says nothing but its title. */
  readonly frontMatter?: string;
}

/** The bound of what a page becomes, and how much of it. */
export interface ToMarkdownOptions {
  /** The longest markdown, in UTF-16 code units. @default 10_000_000 */
  readonly maxLength?: number | undefined;
  /** Whether all is kept that people see, as of a letter or a document, and not the content only. @default false */
  readonly isWhole?: boolean | undefined;
}

const turndown = createTurndown();

/**
 * The readable content of an HTML page as GitHub-flavoured markdown. Which blocks of the page are its content is learnt; of a page that has text there is always some.
 * A picture is kept where it has an alternative text. In a link that has no other text, that text stands for it.
 * @param url where the page came from; its links are resolved against it
 * @throws {PageTooComplexError} if the page has too many nodes, or becomes too long
 */
export function toMarkdown(html: string, url: string, { maxLength = 10_000_000, isWhole = false }: ToMarkdownOptions = {}): MarkdownPage {
  const { metadata, title, prepared } = prepare(html, url, { maxLength, isWhole });
  const about = isWhole ? "" : frontMatter(metadata);
  return {
    ...(about !== "" && { frontMatter: about }),
    title: title === null ? null : visibleText(title),
    markdown: bounded(visibleText(turndown.turndown(prepared)).trim(), maxLength),
  };
}

interface Prepared {
  readonly metadata: PageMetadata;
  readonly title: string | null;
  readonly prepared: string;
}

/** The page as HTML again, of which turndown makes a tree of its own. A function of its own, so that the first tree is garbage by then. */
function prepare(html: string, url: string, { maxLength, isWhole }: { readonly maxLength: number; readonly isWhole: boolean }): Prepared {
  const { $, facts, base, root } = readContent(html, url, isWhole);
  markNotes(root);
  linkHeadings(root);
  resolveLinks(root, base, { maxLength });
  keepPictures(root, base);
  markCode($, root);
  flattenTables($, root);
  numberItems(root);
  dropAttributes(root);
  return { metadata: metadataOf(facts, base), title: facts.title, prepared: bounded($.html(root.children), maxLength) };
}

function bounded(text: string, maxLength: number): string {
  if (text.length > maxLength) throw new PageTooComplexError(`more than ${maxLength} characters once it is converted`);
  return text;
}

/** Leaves the attributes that the converter reads: its own tree is slow where an element has many. */
function dropAttributes(root: ParentNode): void {
  for (const element of elementsBelow(root)) {
    element.attribs = Object.fromEntries(Object.entries(element.attribs).filter(([name]) => readAttributes.has(name)));
  }
}

const readAttributes: ReadonlySet<string> = new Set(["href", "class", "src", "alt", "data-marker", "data-columns", "data-number", "data-done", "data-block"]);
