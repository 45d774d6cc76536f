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

let longest = 0;

/**
 * Reads a stranger's CSS; undefined where css-tree throws. At a bracket that closes nothing, css-tree 3.2.1 looks at what an earlier text had behind the end of this one,
 * and may then never end. So that it finds nothing there, such a text is made longer than all before.
 */
export function parseCss<Node extends CssNode>(text: string, options: ParseOptions): Node | undefined {
  const source = closesNothing(text) ? text.padEnd(longest + 1) : text;
  longest = Math.max(longest, text.length);
  return attempt(() => parse(source, options) as Node);
}

function closesNothing(text: string): boolean {
  const open: (string | undefined)[] = [];
  for (const [found] of text.matchAll(brackets)) {
    if (closers.has(found)) open.push(closers.get(found));
    else if (found === ")" || found === "]" || found === "}") {
      if (open.length === 0) return true;
      if (open.at(-1) === found) open.pop();
    }
  }
  return false;
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
