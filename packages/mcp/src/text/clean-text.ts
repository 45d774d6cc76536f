import { visibleText } from "@rockbot/contracts";

/** A stranger's text as people see it, cut to `maxLength` characters. */
export function cleanText(text: string, maxLength: number): string {
  const clean = visibleText(text);
  return clean.length > maxLength ? `${clean.slice(0, maxLength - 1)}…` : clean;
}
