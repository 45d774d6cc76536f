import { type CssNode, generate, type ParseOptions, parse } from "css-tree/dist/csstree.esm";

/** As text again. What is in a sheet may break the writer, too. */
export const textOfNode = (node: CssNode): string => attempt(() => generate(node)) ?? "";

/** Brackets of CSS, and all that may hold a bracket that is none. @see https://www.w3.org/TR/css-syntax-3/#tokenization */
export const brackets =
  /\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n\r\f]|\\[\s\S])*"?|'(?:[^'\\\n\r\f]|\\[\s\S])*'?|(?<![\w-])url\((?!\s*["'])(?:[^)\\]|\\[\s\S])*\)?|\\[\s\S]|[()[\]{}]/gi;
const closers: ReadonlyMap<string, string> = new Map([
  ["(", ")"],
  ["[", "]"],
  ["{", "}"],
]);
const closing: ReadonlySet<string> = new Set(closers.values());

/** Reads a stranger's CSS; undefined where css-tree throws. */
export const parseCss = <Node extends CssNode>(text: string, options: ParseOptions): Node | undefined =>
  attempt(() => parse(withoutLoneClosers(text), options) as Node);

/**
 * At a bracket that closes nothing, css-tree 3.2.1 looks at what earlier texts have left, and may then never end. In place of such a bracket comes a sign that is as
 * invalid there.
 */
function withoutLoneClosers(text: string): string {
  const open: (string | undefined)[] = [];
  return text.replaceAll(brackets, (found) => {
    if (closers.has(found)) open.push(closers.get(found));
    else if (closing.has(found)) {
      if (open.length === 0) return "?";
      if (open.at(-1) === found) open.pop();
    }
    return found;
  });
}

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
