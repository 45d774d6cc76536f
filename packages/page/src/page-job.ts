import type { ExtractedRecord, ExtractRule } from "./extract/extract.ts";
import type { MarkdownPage } from "./to-markdown.ts";

/** The message to a process that converts pages. */
export interface PageJob {
  readonly html: string;
  /** Where the page came from. Text of a page that came from nowhere keeps its links as they are. */
  readonly url: string | undefined;
  /** What is wanted: the page as markdown, as text, or the records that a rule finds. */
  readonly form: "markdown" | "text" | ExtractRule;
  /** Of what it becomes, in UTF-16 code units. */
  readonly maxLength: number;
}

/** The answer: the page in the form that was asked for, or why it cannot be converted, as the end of a sentence. */
export type PageOutcome = { readonly result: PageResult } | { readonly failure: string };

export type PageResult = MarkdownPage | string | readonly ExtractedRecord[];
