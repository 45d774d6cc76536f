import { type CssNode, generate } from "css-tree/dist/csstree.esm";

/** As text again. What is in a sheet may break the writer, too. */
export const textOfNode = (node: CssNode): string => attempt(() => generate(node)) ?? "";

/** What css-tree and cheerio make of a stranger's sheet, unless they throw. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
