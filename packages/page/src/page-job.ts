import type { MarkdownPage } from "./to-markdown.ts";

/** The message to a process that converts pages. */
export interface PageJob {
  readonly html: string;
  /** Where the page came from. */
  readonly url: string;
  /** Of the markdown, in UTF-16 code units. */
  readonly maxLength: number;
}

/** The answer: the page, or why it cannot be converted, as the end of a sentence. */
export type PageOutcome = { readonly page: MarkdownPage } | { readonly failure: string };
