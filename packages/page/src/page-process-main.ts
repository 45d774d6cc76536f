/**
 * The program of a process that converts pages, one after the other: start-page-process.ts runs it, nothing imports it.
 * Its first message says that it is ready; then each PageJob is answered by a PageOutcome.
 */
import { extract } from "./extract/extract.ts";
import type { PageJob, PageOutcome } from "./page-job.ts";
import { PageTooComplexError } from "./page-too-complex-error.ts";
import { htmlToText } from "./text/html-to-text.ts";
import { toMarkdown } from "./to-markdown.ts";

// Signals to the whole group, such as Ctrl-C, are for the parent: it may still wait for a page while it stops.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
// Without a parent there is nobody to convert for.
process.once("disconnect", () => process.exit());

process.on("message", (job: PageJob) => process.send?.(convert(job)));
process.send?.("ready");

function convert({ html, url, form, maxLength }: PageJob): PageOutcome {
  try {
    if (form === "markdown") return { result: toMarkdown(html, url ?? "", { maxLength }) };
    if (form !== "text") return { result: extract(html, form, { url, maxLength }) };
    const text = htmlToText(html, { url });
    return text.length > maxLength ? { failure: `it has more than ${maxLength} characters once it is converted` } : { result: text };
  } catch (error) {
    return { failure: error instanceof PageTooComplexError ? `it has ${error.message}` : "its structure is too complex" };
  }
}
