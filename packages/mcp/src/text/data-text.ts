import { isTooDeep } from "./clean-schema.ts";
import { cleanText } from "./clean-text.ts";

/**
 * Data of a stranger's program, as text of at most `maxLength` characters without secrets. Never throws: to write data
 * that nests without end would.
 */
export function dataText(data: unknown, redact: (text: string) => string, maxLength: number): string {
  if (isTooDeep(data)) return "nested too deeply to be shown";
  return cleanText(redact(typeof data === "string" ? data : (JSON.stringify(data) ?? "nothing")), maxLength);
}
