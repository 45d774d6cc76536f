/** The kinds of documents that are no page, and are read as text. */
export type DocumentKind = "docx" | "pdf";

/** The kind of a document by its bytes. A .docx is an archive like many, so its name or its parts have to tell. */
export function documentKind(bytes: Uint8Array, name: string): DocumentKind | undefined {
  const start = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  if (start.includes("%PDF-")) return "pdf";
  return start.startsWith("PK\x03\x04") && (/\.do[ct][mx]$/i.test(name) || isDocx(bytes, start)) ? "docx" : undefined;
}

/** An archive of other files may hold a .docx, but does not begin like one. */
const isDocx = (bytes: Uint8Array, start: string): boolean =>
  /^PK\x03\x04[\s\S]{26}(?:\[Content_Types\]\.xml|_rels\/|docProps\/|word\/|customXml\/)/.test(start) &&
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes("word/document");

/** The kinds of texts that become another text in a process of the converter. */
export type BodyTextKind = "html" | "feed" | "json" | "xhtml";
