import { visibleText } from "@rockbot/contracts";
import { extractText, getDocumentProxy, getMeta } from "unpdf";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import type { MarkdownPage, ToMarkdownOptions } from "../to-markdown.ts";

/** The text of a PDF document, with a mark before each page, and the title that it gives itself. @throws {Error} if it cannot be read @throws {PageTooComplexError} if there is too much of it */
export async function pdfToText(bytes: Uint8Array, { maxLength = 10_000_000 }: ToMarkdownOptions): Promise<MarkdownPage> {
  const document = await getDocumentProxy(new Uint8Array(bytes)); // no Buffer: it is taken over
  const { text, totalPages } = await extractText(document, { mergePages: false });
  const pages = text.map((page, i) => `--- page ${i + 1} of ${totalPages} ---\n\n${page.trim() || "(No text: a picture, or an empty page.)"}`);
  const markdown = visibleText(pages.join("\n\n"));
  if (markdown.length > maxLength) throw new PageTooComplexError(`more than ${maxLength} characters once it is converted`);
  return { title: await titleOf(document), markdown };
}

const MAX_TITLE = 500;

/** What a document says of itself may be broken while its pages are not. */
async function titleOf(document: Awaited<ReturnType<typeof getDocumentProxy>>): Promise<string | null> {
  const { info } = await getMeta(document).catch(() => ({ info: {} as Record<string, unknown> }));
  const title = typeof info["Title"] === "string" ? visibleText(info["Title"]).replaceAll(/\s+/g, " ").trim() : "";
  return title === "" ? null : title.slice(0, MAX_TITLE);
}
