import mammoth from "mammoth";
import { type MarkdownPage, type ToMarkdownOptions, toMarkdown } from "../to-markdown.ts";

/** The headings, lists, tables and text of a .docx document as markdown. Images are left out. @throws {Error} if it cannot be read */
export async function docxToMarkdown(bytes: Uint8Array, options: ToMarkdownOptions): Promise<MarkdownPage> {
  const convertImage = mammoth.images.imgElement(async () => ({ src: "" })); // which would come as base64 else
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, { convertImage });
  return toMarkdown(value, "file:///", { ...options, isWhole: true });
}
