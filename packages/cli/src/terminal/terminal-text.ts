import { stripVTControlCharacters } from "node:util";
import { redact } from "@rockbot/base/redaction";

/**
 * Text that others wrote, as it may go to `stream`: without this process's secrets. A terminal gets no escape sequences, and no control characters
 * but line breaks and tabs. Others could move the cursor, change the title or answer in the user's name. Pipes and files get the text as it is.
 */
export function terminalText(text: string, { isTTY = false }: { readonly isTTY?: boolean | undefined }): string {
  const clean = redact(text);
  return isTTY ? stripVTControlCharacters(clean).replaceAll(/[^\P{Cc}\n\t]/gu, "") : clean;
}
