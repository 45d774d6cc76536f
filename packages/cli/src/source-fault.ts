import { readFileSync } from "node:fs";
import { basename } from "node:path";

/**
 * What is wrong with a source file of the program, with its file and line; undefined for any other error.
 *
 * Node puts the place of a syntax error in front of the stack, and the importing file of a failed import at the end of
 * the message.
 */
export function sourceFault(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { stack = "", message } = error;
  if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return failedImport(message);
  if (error.name !== "SyntaxError") return undefined;
  const place = /^(?:file:\/\/)?(\/.+:\d+)\n/.exec(stack)?.[1];
  if (place !== undefined) return `${place}: ${message}`;
  return stack.includes("at compileSourceTextModule")
    ? `a source file cannot be read: ${message}. npm run check names the file`
    : undefined;
}

function failedImport(message: string): string | undefined {
  const [, words = "", missing = "", file = ""] =
    /^(Cannot find (?:module|package) '(.+)') imported from (\/.+)$/.exec(message) ?? [];
  if (file === "") return undefined;
  const line = linesOf(file).findIndex((text) => /\b(?:import|from)\b/.test(text) && text.includes(basename(missing)));
  return `${file}${line < 0 ? "" : `:${line + 1}`}: ${words}`;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return []; // it may be gone by now: the file's name says enough
  }
}
