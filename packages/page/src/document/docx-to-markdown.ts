import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { load } from "cheerio/slim";
import { Text } from "domhandler";
import JSZip from "jszip";
import mammoth from "mammoth";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { type MarkdownPage, type ToMarkdownOptions, toMarkdown } from "../to-markdown.ts";
import { ancestorsOf, elementsBelow, type ParentNode, setChildren } from "../tree/dom.ts";
import { mathmlOfOmml } from "./mathml-of-omml.ts";

/** The bound for all XML in a document: its tree takes several times as much memory. */
const MAX_XML_BYTES = 50_000_000;

/**
 * The headings, lists, tables, formulas and text of a .docx document as markdown. Images are left out.
 * @throws {Error} if it cannot be read @throws {PageTooComplexError} if it is too large once it is unpacked
 */
export async function docxToMarkdown(bytes: Uint8Array, options: ToMarkdownOptions): Promise<MarkdownPage> {
  const archive = await JSZip.loadAsync(bytes);
  await checkUnpackedSize(archive);
  const formulas = await takeFormulas(archive);
  const buffer = formulas.length === 0 ? Buffer.from(bytes) : await archive.generateAsync({ type: "nodebuffer" });
  const convertImage = mammoth.images.imgElement(async () => ({ src: "" })); // which would come as base64 else
  const { value } = await mammoth.convertToHtml({ buffer }, { convertImage });
  const html = value.replaceAll(PLACE, (_, index: string) => formulas[Number(index)] ?? "");
  return toMarkdown(html.includes("<table") ? withPlainTables(html) : html, "file:///", { ...options, isWhole: true });
}

/** Where a formula stands, in signs that no text has. */
const PLACE = /\ue000(\d+)\ue001/g;
const FORMULA = /<m:oMathPara\b[\s\S]*?<\/m:oMathPara>|<m:oMath\b[\s\S]*?<\/m:oMath>/g;

/** Puts a place where each formula stands, which mammoth would drop. @returns them as MathML */
async function takeFormulas(archive: JSZip): Promise<readonly string[]> {
  const formulas: string[] = [];
  for (const part of archive.file(/^word\/(?:document\d*|footnotes|endnotes)\.xml$/)) {
    const xml = await part.async("string");
    if (!xml.includes("<m:oMath")) continue;
    archive.file(
      part.name,
      xml.replaceAll(FORMULA, (omml) => `<w:r><w:t>\ue000${formulas.push(mathmlOfOmml(omml)) - 1}\ue001</w:t></w:r>`),
    );
  }
  return formulas;
}

/**
 * The first row of a table of Word is its heading. A table in a cell becomes lines of it: markdown has no tables in
 * tables.
 */
function withPlainTables(html: string): string {
  const $ = load(html);
  for (const table of elementsBelow($.root()[0] as ParentNode, "table").reverse()) {
    const rows = elementsBelow(table, "tr"); // none of tables inside, which were before
    if ([...ancestorsOf(table)].some(({ name }) => name === "table")) {
      for (const part of [table, ...elementsBelow(table, "thead", "tbody", "tr")]) part.name = "div";
      for (const part of elementsBelow(table, "td", "th", "p")) {
        if (part.prev !== null) setChildren(part, [new Text(part.name === "p" ? " " : " | "), ...part.children]);
        part.name = "span";
      }
    } else if (rows.length > 1 && elementsBelow(table, "th").length === 0)
      for (const cell of elementsBelow(rows[0] as ParentNode, "td")) cell.name = "th";
  }
  return $.html();
}

/**
 * The archive's own word on its sizes may be a lie, and mammoth unpacks whole parts. So each is unpacked once before,
 * and nothing of it is kept.
 */
async function checkUnpackedSize(archive: JSZip): Promise<void> {
  let leftBytes = MAX_XML_BYTES;
  for (const part of archive.file(/\.(xml|rels)$/i)) {
    const count = new Writable({
      write({ length }: Buffer, _, done) {
        leftBytes -= length;
        done(
          leftBytes < 0 ? new PageTooComplexError(`more than ${MAX_XML_BYTES} bytes of XML once it is unpacked`) : null,
        );
      },
    });
    await pipeline(part.nodeStream(), count);
  }
}
