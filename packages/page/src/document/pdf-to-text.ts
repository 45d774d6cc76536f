import { visibleText } from "@rockbot/contracts";
import { extractText, getDocumentProxy } from "unpdf";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import type { MarkdownPage, ToMarkdownOptions } from "../to-markdown.ts";

/** The text of a PDF document, page by page. @throws {Error} if it cannot be read @throws {PageTooComplexError} if there is too much of it */
export async function pdfToText(bytes: Uint8Array, { maxLength = 10_000_000 }: ToMarkdownOptions): Promise<MarkdownPage> {
  const document = await getDocumentProxy(new Uint8Array(bytes)); // no Buffer: it is taken over
  const { text, totalPages } = await extractText(document, { mergePages: false });
  const pages = text.map((page, i) => `--- page ${i + 1} of ${totalPages} ---\n\n${page.trim()}`);
  const markdown = visibleText(pages.join("\n\n"));
  if (markdown.length > maxLength) throw new PageTooComplexError(`more than ${maxLength} characters once it is converted`);
  return { title: null, markdown };
}
