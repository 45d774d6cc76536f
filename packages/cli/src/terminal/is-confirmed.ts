import { createInterface } from "node:readline/promises";

/** Asks who sits at the terminal. Without one nobody has agreed. */
export async function isConfirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
}
