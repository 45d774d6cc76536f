import { askLine } from "./ask-line.ts";

/** Asks who sits at the terminal. Without one nobody has agreed. */
export const isConfirmed = async (question: string): Promise<boolean> =>
  /^y(es)?$/i.test((await askLine(`${question} [y/N] `)) ?? "");
