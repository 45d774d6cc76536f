import { type Comment, parseSync } from "oxc-parser";

/** A node of the syntax tree, as ESTree names its kinds and fields. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** @throws {Error} if the text cannot be parsed */
export function parseSource(
  file: string,
  text: string,
): { readonly program: Node; readonly comments: readonly Comment[] } {
  const { program, comments, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`Cannot parse ${file}: ${errors[0].message}`);
  return { program: program as unknown as Node, comments };
}

/** True if a field of a node is a node itself. */
export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Partial<Node>).type === "string";

/** The nodes directly below one, in the order of the text. */
export const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode);
