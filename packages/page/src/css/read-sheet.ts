import { tokenize, tokenTypes } from "css-tree/dist/csstree.esm";
import { closers, closing } from "./css-text.ts";

/** A declaration as it is written. */
export interface WrittenDeclaration {
  readonly name: string;
  readonly value: string;
}

/** What stands before a rule's block. */
export interface Prelude {
  readonly text: string;
  /**
   * Without what is in brackets, which narrows what the names before it mean. For a nested rule the visitor does not
   * get it.
   */
  readonly outline: string;
}

/**
 * Receives what a sheet holds, in its order. A rule gives the context that its block is read in, or undefined to pass
 * by the block.
 */
export interface SheetVisitor<Context> {
  rule(prelude: Prelude, around: Context): Context | undefined;
  /** @param hasBlock whether it is no statement */
  atRule(name: string, prelude: string, around: Context, hasBlock: boolean): Context | undefined;
  /** Declarations that stand side by side: those behind a nested rule come by themselves. */
  declarations(declarations: readonly WrittenDeclaration[], around: Context): void;
}

interface Block<Context> {
  readonly context: Context;
  /** True if it may hold declarations. */
  readonly isNested: boolean;
  readonly declarations: WrittenDeclaration[];
}

/** A bracket that is open. */
interface Open<Context> {
  readonly closer: number;
  /** True if a rule ends with it. */
  readonly isRule: boolean;
  /** The block of a rule that is read. */
  readonly block?: Block<Context>;
}

/**
 * Reads a sheet, or the declarations of a style attribute, as the standard says and browsers do: in one pass over its
 * tokens, whatever it holds. css-tree knows nested rules by their "&" only, reads declarations that no browser reads,
 * and makes a tree of what nobody asks for.
 * @param isStyle whether the text is of a style attribute
 * @see https://drafts.csswg.org/css-syntax/#parsing
 */
// Long because: its parts share what came before a token.
export function readSheet<Context>(
  text: string,
  outermost: Context,
  visitor: SheetVisitor<Context>,
  isStyle = false,
): void {
  const top: Block<Context> = { context: outermost, isNested: isStyle, declarations: [] };
  const open: Open<Context>[] = [];
  /** What holds the tokens that come; undefined in other brackets, and in what is passed by. */
  let block: Block<Context> | undefined = top;
  /**
   * The state of what begins here: the number of tokens, the first one, its beginning and end, and a colon behind it.
   */
  let count = 0;
  let first = 0;
  let start = 0;
  let firstEnd = 0;
  let colon = -1;
  let outline = "";
  let isBroken = false;
  const begin = (): void => {
    count = 0;
    colon = -1;
    outline = "";
    isBroken = false;
  };
  const isAtRule = (): boolean => count > 0 && first === tokenTypes.AtKeyword;
  const atRule = (around: Block<Context>, end: number, hasBlock: boolean): Context | undefined =>
    isBroken
      ? undefined
      : visitor.atRule(
          text.slice(start + 1, firstEnd).toLowerCase(),
          text.slice(firstEnd, end).trim(),
          around.context,
          hasBlock,
        );
  const tell = ({ context, declarations }: Block<Context>): void => {
    if (declarations.length > 0) visitor.declarations(declarations.splice(0), context);
  };
  const endStatement = (holder: Block<Context>, end: number, closed = ""): void => {
    if (isAtRule()) {
      tell(holder);
      atRule(holder, end, false);
    } else if (colon !== -1 && holder.isNested && !isBroken) {
      holder.declarations.push({
        name: text.slice(start, firstEnd),
        value: `${text.slice(colon + 1, end)}${closed}`.replaceAll(COMMENT, " ").trim(),
      });
    }
    begin();
  };
  const openRule = (around: Block<Context>, from: number): void => {
    tell(around);
    const prelude = { text: count === 0 ? "" : text.slice(start, from).trim(), outline: outline.trim() };
    const context = isAtRule()
      ? atRule(around, from, true)
      : isBroken
        ? undefined
        : visitor.rule(prelude, around.context);
    const isNested = around.isNested || !isAtRule();
    block = context === undefined ? undefined : { context, isNested, declarations: [] };
    open.push({ closer: tokenTypes.RightCurlyBracket, isRule: true, ...(block !== undefined && { block }) });
    begin();
  };

  tokenize(text, (type, from, end) => {
    const around = open.at(-1);
    if (type === around?.closer) {
      if (around.block !== undefined) {
        endStatement(around.block, from);
        tell(around.block);
      }
      open.pop();
      const outer = open.at(-1);
      block = outer === undefined ? top : outer.block;
      if (around.isRule) begin();
      else if (block !== undefined && !block.isNested && type !== tokenTypes.RightSquareBracket)
        outline += text.slice(from, end);
      return;
    }
    if (block === undefined) {
      const closer = closers.get(type);
      if (closer !== undefined) open.push({ closer, isRule: false });
      return;
    }
    if (type === tokenTypes.Semicolon && (block.isNested || isAtRule())) return endStatement(block, from);
    if (type === tokenTypes.LeftCurlyBracket && !(block.isNested && colon !== -1 && text.startsWith("--", start)))
      return openRule(block, from);
    const isSpace = type === tokenTypes.WhiteSpace || type === tokenTypes.Comment;
    if (count === 0 && (isSpace || (open.length === 0 && (type === tokenTypes.CDO || type === tokenTypes.CDC)))) return;
    if (!isSpace && ++count <= 2) {
      if (count === 1) [first, start, firstEnd] = [type, from, end];
      else if (type === tokenTypes.Colon && first === tokenTypes.Ident) colon = from;
    }
    if (closing.has(type)) isBroken = true;
    if (!block.isNested && type !== tokenTypes.LeftSquareBracket && type !== tokenTypes.Comment)
      outline += text.slice(from, end);
    const closer = closers.get(type);
    if (closer === undefined) return;
    open.push({ closer, isRule: false });
    block = undefined;
  });

  // The end of the text ends all that is open.
  const brackets: number[] = [];
  for (let entry = open.pop(); ; entry = open.pop()) {
    if (entry !== undefined && !entry.isRule) {
      brackets.push(entry.closer);
      continue;
    }
    const ended = entry === undefined ? top : entry.block;
    if (ended !== undefined) {
      endStatement(ended, text.length, brackets.map((closer) => signs.get(closer)).join(""));
      tell(ended);
    }
    brackets.length = 0;
    begin();
    if (entry === undefined) return;
  }
}

const COMMENT = /\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?/g;
const signs: ReadonlyMap<number, string> = new Map([
  [tokenTypes.RightParenthesis, ")"],
  [tokenTypes.RightSquareBracket, "]"],
  [tokenTypes.RightCurlyBracket, "}"],
]);
