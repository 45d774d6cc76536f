import { type CssNode, generate, type ParseOptions, parse, tokenize, tokenTypes } from "css-tree/dist/csstree.esm";

/** As text again. What is in a sheet may break the writer, too. */
export const textOfNode = (node: CssNode): string => attempt(() => generate(node)) ?? "";

/** By the token that opens a bracket, the one that closes it. */
export const closers: ReadonlyMap<number, number> = new Map([
  [tokenTypes.Function, tokenTypes.RightParenthesis],
  [tokenTypes.LeftParenthesis, tokenTypes.RightParenthesis],
  [tokenTypes.LeftSquareBracket, tokenTypes.RightSquareBracket],
  [tokenTypes.LeftCurlyBracket, tokenTypes.RightCurlyBracket],
]);
const closing: ReadonlySet<number> = new Set(closers.values());

/** Reads a stranger's CSS; undefined where css-tree throws. */
export const parseCss = <Node extends CssNode>(text: string, options: ParseOptions): Node | undefined =>
  attempt(() => parse(withoutLoneClosers(text), options) as Node);

/**
 * At a bracket that closes nothing, css-tree 3.2.1 looks at what earlier texts have left, and may then never end. In place of such a bracket comes a sign that is as
 * invalid there.
 */
function withoutLoneClosers(text: string): string {
  const open: number[] = [];
  const parts: string[] = [];
  let end = 0;
  tokenize(text, (type, start) => {
    const closer = closers.get(type);
    if (closer !== undefined) open.push(closer);
    else if (type === open.at(-1)) open.pop();
    else if (open.length === 0 && closing.has(type)) {
      parts.push(text.slice(end, start));
      end = start + 1;
    }
  });
  return [...parts, text.slice(end)].join("?");
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
