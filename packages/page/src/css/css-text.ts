import { type CssNode, generate } from "css-tree/dist/csstree.esm";

/** As text again. What is in a sheet may break the writer, too. */
export const textOfNode = (node: CssNode): string => attempt(() => generate(node)) ?? "";

/** What css-tree and cheerio make of a stranger's sheet, unless they throw. */
export function attempt<T>(work: () => T): T | undefined {
  const { stackTraceLimit } = Error;
  // css-tree makes an error of each mistake that it passes by, and writes out its stack.
  Error.stackTraceLimit = 0;
  try {
    return work();
  } catch {
    return undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
