// What strangers' bodies are, and pages as markdown. Loads no parser: that is in the processes of the converter.

export { cutAtBlock } from "./cut-at-block.ts";
export { decodeText } from "./decode-text.ts";
export { type BodyTextKind, type DocumentKind, documentKind } from "./document/document-kind.ts";
export type { ImageFacts } from "./document/image-facts.ts";
export type { ExtractedRecord, ExtractRule, FieldRule } from "./extract/extract.ts";
export { type BodyKind, kindByBytes, kindByType, mediaTypeOf } from "./media-type.ts";
export {
  createPageConverter,
  PageConversionError,
  type PageConverter,
  type PageConverterOptions,
  UndecodableError,
} from "./page-converter.ts";
export type { MarkdownPage } from "./to-markdown.ts";
