/** The kinds of documents that are no page, and are read as text. */
export type DocumentKind = "docx" | "pdf";

/** The kind of a document by its bytes; a .docx is an archive like many, so that its name has to say so. */
export function documentKind(bytes: Uint8Array, name: string): DocumentKind | undefined {
  const start = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  if (start.includes("%PDF-")) return "pdf";
  return start.startsWith("PK\x03\x04") && /\.do[ct][mx]$/i.test(name) ? "docx" : undefined;
}

/** The kinds of texts that become another text in a process of the converter. */
export type BodyTextKind = "html" | "feed" | "json" | "xhtml";
