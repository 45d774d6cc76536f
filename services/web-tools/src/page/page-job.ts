import type { MarkdownPage } from "./to-markdown.ts";

/** What is sent to a process that converts pages. */
export interface PageJob {
  readonly html: string;
  /** Where the page came from. */
  readonly url: string;
  /** Of the markdown, in UTF-16 code units. */
  readonly maxLength: number;
}

/** What comes back: the page, or why it cannot be converted, as the end of a sentence. */
export type PageOutcome = { readonly page: MarkdownPage } | { readonly failure: string };
