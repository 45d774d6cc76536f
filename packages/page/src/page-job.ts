import type { MarkdownPage } from "./to-markdown.ts";

/** The message to a process that converts pages. */
export interface PageJob {
  readonly html: string;
  /** Where the page came from. Text of a page that came from nowhere keeps its links as they are. */
  readonly url: string | undefined;
  readonly form: "markdown" | "text";
  /** Of what it becomes, in UTF-16 code units. */
  readonly maxLength: number;
}

/** The answer: the page in the form that was asked for, or why it cannot be converted, as the end of a sentence. */
export type PageOutcome = { readonly page: MarkdownPage } | { readonly failure: string };
