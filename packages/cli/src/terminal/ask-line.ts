import { createInterface } from "node:readline/promises";

/** Asks who sits at the terminal for a line. Undefined without a terminal. */
export async function askLine(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  return (await terminal.question(question)).trim();
}
