import type { BodyTextKind, DocumentKind } from "./document/document-kind.ts";
import type { ImageFacts } from "./document/image-facts.ts";
import type { ExtractedRecord, ExtractRule } from "./extract/extract.ts";
import type { MarkdownPage } from "./to-markdown.ts";

/** The message to a process that converts pages. */
export type PageJob = HtmlJob | BodyJob | DocumentJob | ImageJob;

export interface HtmlJob {
  readonly html: string;
  /** Where the page came from. Text of a page that came from nowhere keeps its links as they are. */
  readonly url: string | undefined;
  /**
   * What is wanted: the page's content as markdown, that of a page whose scripts have run, all of it as markdown, as
   * text, or the records that a rule finds.
   */
  readonly form: "markdown" | "drawn" | "whole" | "text" | ExtractRule;
  /** The longest result, in UTF-16 code units. */
  readonly maxLength: number;
}

/** A text as its bytes: only the process that converts it holds its characters. */
export interface BodyJob {
  readonly body: Uint8Array;
  readonly kind: BodyTextKind;
  /** Its `Content-Type`, for the encoding of its characters. */
  readonly contentType: string | undefined;
  /** True if it is the beginning of a longer one, so that it ends at the border of a block. */
  readonly isBeginning: boolean;
  /** Where it came from. */
  readonly url: string;
  /** The longest result, in UTF-16 code units. */
  readonly maxLength: number;
}

interface DocumentJob {
  readonly document: DocumentKind;
  readonly bytes: Uint8Array;
  /** After this, in milliseconds of the processor, what has been read of the document is enough. */
  readonly budgetMs: number;
  /** The longest result, in UTF-16 code units. */
  readonly maxLength: number;
}

interface ImageJob {
  readonly image: Uint8Array;
}

/** The answer: the page in the form that was asked for, or why it cannot be converted, as the end of a sentence. */
export type PageOutcome = { readonly result: PageResult } | { readonly failure: string; readonly isUndecodable?: true };

export type PageResult = MarkdownPage | string | readonly ExtractedRecord[] | ImageFacts;
