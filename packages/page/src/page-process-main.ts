/**
 * The program of a process that converts pages, one after the other: start-page-process.ts runs it, nothing imports it.
 * Its first message says that it is ready; then each PageJob is answered by a PageOutcome.
 */
import { fence, visibleText } from "@rockbot/contracts";
import { cutAtBlock } from "./cut-at-block.ts";
import { decodeText } from "./decode-text.ts";
import { scriptPage } from "./document/script-page.ts";
import { extract } from "./extract/extract.ts";
import type { BodyJob, HtmlJob, PageJob, PageOutcome, PageResult } from "./page-job.ts";
import { PageTooComplexError } from "./page-too-complex-error.ts";
import { htmlToText } from "./text/html-to-text.ts";
import { type MarkdownPage, toMarkdown } from "./to-markdown.ts";

// Signals to the whole group, such as Ctrl-C, are for the parent: it may still wait for a page while it stops.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
// Without a parent there is nobody to convert for.
process.once("disconnect", () => process.exit());

process.on("message", (job: PageJob) => void convert(job).then((outcome) => process.send?.(outcome)));
process.send?.("ready");

async function convert(job: PageJob): Promise<PageOutcome> {
  try {
    if ("html" in job) return { result: ofHtml(job) };
    if ("body" in job) return await ofBody(job);
    // What reads documents is loaded once there is one.
    if ("image" in job) return { result: (await import("./document/image-facts.ts")).imageFacts(job.image) };
    if (job.document === "pdf")
      return { result: await (await import("./document/pdf-to-text.ts")).pdfToText(job.bytes, job) };
    return { result: await (await import("./document/docx-to-markdown.ts")).docxToMarkdown(job.bytes, job) };
  } catch (error) {
    if (error instanceof PageTooComplexError) return { failure: `it has ${error.message}` };
    return {
      failure:
        "html" in job || "body" in job
          ? "its structure is too complex"
          : `it is damaged, or not what it says (${wordsOf(error)})`,
    };
  }
}

function ofHtml({ html, url, form, maxLength }: HtmlJob): PageResult {
  if (form === "whole") return toMarkdown(html, url ?? "", { maxLength, isWhole: true });
  if (form === "markdown") return ofPage(html, url ?? "", maxLength);
  if (form === "drawn") return toMarkdown(html, url ?? "", { maxLength });
  if (form !== "text") return extract(html, form, { url, maxLength });
  const text = htmlToText(html, { url });
  if (text.length > maxLength) throw new PageTooComplexError(`more than ${maxLength} characters once it is converted`);
  return text;
}

function ofPage(html: string, url: string, maxLength: number): MarkdownPage {
  const page = toMarkdown(html, url, { maxLength });
  return scriptPage(html, page, { url, maxLength }) ?? page;
}

async function ofBody({ body, contentType, isBeginning, ...job }: BodyJob): Promise<PageOutcome> {
  const text = decodeText(body, contentType);
  if (text === undefined) return { failure: "its characters are in no known encoding", isUndecodable: true };
  const kind = job.kind === "json" ? "text" : job.kind === "feed" ? "feed" : "html";
  return {
    result: await ofText({ ...job, text: isBeginning ? cutAtBlock(text.replace(/\ufffd{1,3}$/, ""), { kind }) : text }),
  };
}

async function ofText({
  text,
  kind,
  url,
  maxLength,
}: Pick<BodyJob, "kind" | "url" | "maxLength"> & { readonly text: string }): Promise<MarkdownPage> {
  if (kind === "html") return ofPage(text, url, maxLength);
  if (kind === "json" && text.trim() === "") return { title: null, markdown: "" };
  if (kind === "xhtml") return ofPage((await import("./document/xhtml-to-html.ts")).xhtmlToHtml(text), url, maxLength);
  const page =
    kind === "feed"
      ? (await import("./document/feed-to-markdown.ts")).feedToMarkdown(text, url, { maxLength })
      : undefined;
  if (page !== undefined) return page;
  const isJson = kind === "json" || /^\s*\{/.test(text);
  const shown = isJson ? (await import("./document/pretty-json.ts")).prettyJson(text) : text;
  return { title: null, markdown: fence(visibleText(shown), isJson ? "json" : "xml") };
}

/** What a library says of a document, on one line. */
const wordsOf = (error: unknown): string =>
  String(error instanceof Error ? error.message : error)
    .replaceAll(/\s+/g, " ")
    .slice(0, 200);
