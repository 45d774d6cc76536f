import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RawAnswers } from "./raw-answers.ts";

/**
 * The command line of an MCP server over stdio that says what it is given, which is kept in the folder: see
 * raw-server-main.ts.
 */
export function rawServer(
  folder: string,
  answers: RawAnswers,
): { readonly command: string; readonly args: readonly string[] } {
  const file = join(folder, "raw-answers.json");
  writeFileSync(file, JSON.stringify(answers));
  return { command: process.execPath, args: [join(import.meta.dirname, "raw-server-main.ts"), file] };
}
