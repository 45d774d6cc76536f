import { childrenOf, isNode, type Node, parseSource } from "../generate/source/syntax.ts";
import { lineAt, lineStarts, reasonsByLine, type Span } from "./reasons.ts";

export interface FoundFunction {
  /** What it is called, or what it is an argument of. */
  readonly name: string;
  /** Where it begins, counted from 1. */
  readonly line: number;
  /** The lines from the first to the last, without blank lines, comments and parts described for tests. */
  readonly lines: number;
  /** What the comment directly above, or above the call that it is an argument of, says it is long because of. */
  readonly reason: string | undefined;
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
/** The callbacks of these hold tests, side by side. */
const SUITES = new Set(["describe", "suite"]);
const REASON = /\bLong because:?\s+(.+)/;

/**
 * All functions with a body in a source file, methods and callbacks included, but for the callbacks that hold tests.
 * @throws {Error} if it cannot be parsed
 */
export function findFunctions(file: string, text: string): FoundFunction[] {
  const { program, comments } = parseSource(file, text);
  const found: { readonly name: string; readonly node: Node; readonly call: Node | undefined }[] = [];
  const suites: Span[] = [];
  visit(program, [], (node, parents) => {
    if (!FUNCTIONS.has(node.type) || !isNode(node["body"])) return;
    const parent = parents.at(-1);
    if (parent?.type === "CallExpression" && SUITES.has(rootName(parent["callee"]))) suites.push(node);
    else
      found.push({ name: nameOf(node, parents), node, call: parent?.type === "CallExpression" ? parent : undefined });
  });
  const code = blanked(text, comments);
  const starts = lineStarts(text);
  const reasons = reasonsByLine(comments, starts, REASON);
  return found.map(({ name, node, call }) => {
    const line = lineAt(starts, node.start);
    const suitesInside = suites.filter(({ start, end }) => start > node.start && end < node.end);
    const lines = blanked(code, suitesInside)
      .slice(node.start, node.end)
      .split("\n")
      .filter((part) => part.trim() !== "");
    return {
      name,
      line,
      lines: lines.length,
      reason: reasons.get(line) ?? (call && reasons.get(lineAt(starts, call.start))),
    };
  });
}

function visit(node: Node, parents: readonly Node[], see: (node: Node, parents: readonly Node[]) => void): void {
  see(node, parents);
  const inner = [...parents, node];
  for (const child of childrenOf(node)) visit(child, inner, see);
}

/** What a call goes to in the end: `describe` of `describe.each(rows)`. */
function rootName(callee: unknown): string {
  if (!isNode(callee)) return "";
  if (callee.type === "Identifier") return String(callee["name"]);
  return rootName(callee.type === "CallExpression" ? callee["callee"] : callee["object"]);
}

function nameOf(node: Node, parents: readonly Node[]): string {
  const parent = parents.at(-1);
  for (const named of [node["id"], parent?.["key"], parent?.type === "VariableDeclarator" ? parent["id"] : undefined]) {
    if (isNode(named) && typeof named["name"] === "string") return named["name"];
  }
  const call = parents.findLast(({ type }) => type === "CallExpression");
  return call === undefined ? "(without a name)" : `(callback of ${rootName(call["callee"]) || "a call"})`;
}

/** The text with spaces in place of these spans: what stands where stays so. */
function blanked(text: string, spans: readonly Span[]): string {
  let result = text;
  for (const { start, end } of spans)
    result = result.slice(0, start) + result.slice(start, end).replace(/\S/g, " ") + result.slice(end);
  return result;
}
