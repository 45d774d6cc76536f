import { visibleText } from "@rockbot/contracts";
import { getDocumentProxy, getMeta } from "unpdf";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import type { MarkdownPage } from "../to-markdown.ts";
import { CharacterMaps } from "./character-maps.ts";

/** The bounds of a document's text. */
export interface PdfToTextOptions {
  /** The longest text, in UTF-16 code units. */
  readonly maxLength: number;
  /** No further page is begun after this, in milliseconds of the processor. */
  readonly budgetMs: number;
}

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

/**
 * The text of a PDF document, with a mark before each page, and the title that it gives itself. A document that is too
 * long for the bounds gives its first pages.
 * @throws {Error} if it cannot be read @throws {PageTooComplexError} if its first page alone is too long
 */
export async function pdfToText(bytes: Uint8Array, { maxLength, budgetMs }: PdfToTextOptions): Promise<MarkdownPage> {
  const begun = process.cpuUsage();
  // No Buffer: it is taken over.
  const document = await getDocumentProxy(new Uint8Array(bytes), {
    BinaryDataFactory: CharacterMaps,
    verbosity: WARNINGS,
  });
  const total = document.numPages;
  const pages: string[] = [];
  let lacksText = false;
  for (let length = 0; pages.length < total; ) {
    const { user, system } = process.cpuUsage(begun);
    if (pages.length > 0 && (user + system) / 1_000 > budgetMs) break;
    const page = await fontsGivenUp(() => textOfPage(document, pages.length + 1));
    lacksText ||= page.isLacking;
    const read = [page.text, ...(page.isLacking ? [LACKING] : [])].filter((part) => part !== "").join("\n\n");
    const text = `--- page ${pages.length + 1} of ${total} ---\n\n${read || "(No text: a picture, or an empty page.)"}`;
    length += text.length + 2;
    if (length > maxLength) break;
    pages.push(text);
  }
  if (pages.length === 0 && total > 0)
    throw new PageTooComplexError(`more than ${maxLength} characters once it is converted`);
  const title = await titleOf(document);
  return {
    title,
    markdown: pages.join("\n\n"),
    ...(pages.length < total && { isBeginning: true }),
    ...(lacksText && { lacksText: true }),
  };
}

const LACKING = "(Text of this page is missing here: it has a font of which nothing says which characters it shows.)";

const WARNINGS = 1;
/**
 * How pdf.js begins what it says of a font that it gives up. It passes over the font's text, and tells of it in no
 * other way.
 */
const GIVEN_UP = /loadFont - /;

async function fontsGivenUp(
  read: () => Promise<string>,
): Promise<{ readonly text: string; readonly isLacking: boolean }> {
  let isLacking = false;
  const { warn } = console;
  console.warn = (...words: readonly unknown[]) => {
    isLacking ||= GIVEN_UP.test(String(words[0]));
  };
  try {
    const text = await read();
    return { text, isLacking };
  } finally {
    console.warn = warn;
  }
}

async function textOfPage(document: PdfDocument, number: number): Promise<string> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  const text = items.map((item) => ("str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : "")).join("");
  page.cleanup(); // or all pages together would be held
  return visibleText(text).trim();
}

const MAX_TITLE = 500;

/** What a document says of itself may be broken while its pages are not. */
async function titleOf(document: PdfDocument): Promise<string | null> {
  const { info } = await getMeta(document).catch(() => ({ info: {} as Record<string, unknown> }));
  const title = typeof info["Title"] === "string" ? visibleText(info["Title"]).replaceAll(/\s+/g, " ").trim() : "";
  return title === "" ? null : title.slice(0, MAX_TITLE);
}
