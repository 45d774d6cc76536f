import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import JSZip from "jszip";
import mammoth from "mammoth";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { type MarkdownPage, type ToMarkdownOptions, toMarkdown } from "../to-markdown.ts";

/** Of all XML in a document, whose tree takes some times as much memory. */
const MAX_XML_BYTES = 50_000_000;

/**
 * The headings, lists, tables and text of a .docx document as markdown. Images are left out.
 * @throws {Error} if it cannot be read @throws {PageTooComplexError} if it is too large once it is unpacked
 */
export async function docxToMarkdown(bytes: Uint8Array, options: ToMarkdownOptions): Promise<MarkdownPage> {
  await checkUnpackedSize(bytes);
  const convertImage = mammoth.images.imgElement(async () => ({ src: "" })); // which would come as base64 else
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, { convertImage });
  return toMarkdown(value, "file:///", { ...options, isWhole: true });
}

/** The archive's own word on its sizes may be a lie, and mammoth unpacks whole parts. So each is unpacked once before, and nothing of it is kept. */
async function checkUnpackedSize(bytes: Uint8Array): Promise<void> {
  let leftBytes = MAX_XML_BYTES;
  for (const part of (await JSZip.loadAsync(bytes)).file(/\.(xml|rels)$/i)) {
    const count = new Writable({
      write({ length }: Buffer, _, done) {
        leftBytes -= length;
        done(leftBytes < 0 ? new PageTooComplexError(`more than ${MAX_XML_BYTES} bytes of XML once it is unpacked`) : null);
      },
    });
    await pipeline(part.nodeStream(), count);
  }
}
