import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { ToolError } from "@rockbot/contracts";
import type { PublicFetch } from "@rockbot/edge/outbound";
import { decodeText } from "@rockbot/page";
import type { DocumentImport } from "./document-import.ts";

/** The bound of a document, on the wire and unpacked. */
export const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;

/** A document's text, and where it was read if that is an address. */
export interface FetchedDocument {
  readonly text: string;
  readonly at: URL | undefined;
}

/** Tells whether a document is at an address. */
const isAddress = (document: string): boolean => /^https?:\/\//i.test(document);

/** Reads a document by its address or from its file. @throws {Error} that says in words why it cannot be read */
export async function fetchDocument(
  { document, folder }: Pick<DocumentImport, "document" | "folder">,
  fetch: PublicFetch,
  signal?: AbortSignal,
): Promise<FetchedDocument> {
  if (!isAddress(document)) {
    const bytes = await readFile(resolve(folder, document)).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`the file cannot be read (${error.code})`);
    });
    if (bytes.length > MAX_DOCUMENT_BYTES) throw new Error(`it is larger than ${MAX_DOCUMENT_BYTES} bytes`);
    return { text: bytes.toString("utf8"), at: undefined };
  }
  try {
    await using response = await fetch(document, {
      signal,
      headers: { accept: "application/json, application/yaml, */*;q=0.5" },
    });
    if (response.status !== 200) throw new Error(`the server answered with status ${response.status}`);
    const { bytes, isCut } = await response.body();
    const text = isCut ? undefined : decodeText(bytes, response.header("content-type"));
    if (text === undefined) throw new Error("it is not text, or broke off");
    return { text, at: response.url };
  } catch (error) {
    if (error instanceof ToolError) throw new Error(error.message);
    throw error;
  }
}
