import { stripVTControlCharacters } from "node:util";
import { redact } from "@rockbot/base/redaction";

/** Marks that turn the direction of text around, so that it reads as another one. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * A tool's content, as it may go to `stream`: without this process's secrets. A terminal gets no escape sequences, no
 * bidirectional marks, and no control characters but line breaks and tabs. Others could move the cursor, change the
 * title or answer in the user's name. Pipes and files get the text as it is.
 */
export function terminalText(text: string, { isTTY = false }: { readonly isTTY?: boolean | undefined }): string {
  const clean = redact(text);
  return isTTY
    ? stripVTControlCharacters(clean)
        .replaceAll(/[^\P{Cc}\n\t]/gu, "")
        .replaceAll(BIDI, "")
    : clean;
}
