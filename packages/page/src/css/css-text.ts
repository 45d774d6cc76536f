import { type CssNode, generate, type ParseOptions, parse, tokenize, tokenTypes } from "css-tree/dist/csstree.esm";
import { PageTooComplexError } from "../page-too-complex-error.ts";

/** The node as text again. What is in a sheet may break the writer, too. */
export const textOfNode = (node: CssNode): string => attempt(() => generate(node)) ?? "";

/** The token that closes a bracket, by the one that opens it. */
export const closers: ReadonlyMap<number, number> = new Map([
  [tokenTypes.Function, tokenTypes.RightParenthesis],
  [tokenTypes.LeftParenthesis, tokenTypes.RightParenthesis],
  [tokenTypes.LeftSquareBracket, tokenTypes.RightSquareBracket],
  [tokenTypes.LeftCurlyBracket, tokenTypes.RightCurlyBracket],
]);
export const closing: ReadonlySet<number> = new Set(closers.values());

/** Brackets in more of them stand on no real page: libraries recurse when they read them. */
const MAX_DEPTH = 200;

/**
 * Reads a stranger's CSS; undefined where css-tree throws, and where a bracket closes nothing: css-tree 3.2.1 then
 * looks at what earlier texts have left, and may never end.
 */
export const parseCss = <Node extends CssNode>(text: string, options: ParseOptions): Node | undefined =>
  hasLoneCloser(text) ? undefined : attempt(() => parse(text, options) as Node);

function hasLoneCloser(text: string): boolean {
  const open: number[] = [];
  let isFound = false;
  tokenize(text, (type) => {
    const closer = closers.get(type);
    if (closer !== undefined) {
      if (open.push(closer) > MAX_DEPTH) throw new PageTooComplexError("more styles than can be read");
    } else if (type === open.at(-1)) open.pop();
    else if (open.length === 0 && closing.has(type)) isFound = true;
  });
  return isFound;
}

/** What css-tree makes of a stranger's CSS, unless it throws. */
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
