import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { childrenOf, isNode, type Node, parseSource } from "../generate/source/syntax.ts";
import { sourceFiles } from "./check-functions.ts";
import { lineAt, lineStarts, reasonsByLine } from "./reasons.ts";

const MAX_FIELDS = 12;
const OPTIONS = /(Options|Settings|Parts)$/;
const REASON = /\bMany because:?\s+(.+)/;

export interface FoundOptions {
  readonly name: string;
  /** Where it begins, counted from 1. */
  readonly line: number;
  /** Its own, those of interfaces of the same file that it extends, and those that it picks of others. */
  readonly fields: number;
  /** What the comment directly above says it has many because of. */
  readonly reason: string | undefined;
}

/**
 * All interfaces of a source file that are named as options, settings or parts.
 * @throws {Error} if it cannot be parsed
 */
export function findOptions(file: string, text: string): FoundOptions[] {
  const { program, comments } = parseSource(file, text);
  const interfaces = childrenOf(program)
    .map((node) => (isNode(node["declaration"]) ? node["declaration"] : node))
    .filter(({ type }) => type === "TSInterfaceDeclaration");
  const byName = new Map(interfaces.map((node) => [nameOf(node["id"]), node]));
  const starts = lineStarts(text);
  const reasons = reasonsByLine(comments, starts, REASON);
  return [...byName]
    .filter(([name]) => OPTIONS.test(name))
    .map(([name, node]) => {
      const line = lineAt(starts, node.start);
      return { name, line, fields: fieldsOf(node, byName), reason: reasons.get(line) };
    });
}

/**
 * No options have more than 12 fields, unless the comment directly above them says `Many because: …`.
 *
 * @returns a line that says what was looked at
 * @throws {Error} with one line for each
 */
export async function checkOptions(root: string): Promise<string> {
  const found = await Promise.all(
    sourceFiles(root).map(async (file) =>
      findOptions(file, await readFile(join(root, file), "utf8")).map((each) => ({ ...each, file })),
    ),
  );
  const many = found.flat().filter(({ fields }) => fields > MAX_FIELDS);
  const faults = many.filter(({ reason }) => reason === undefined);
  if (faults.length > 0)
    throw new Error(
      faults.map(({ file, line, name, fields }) => `${file}:${line}: ${name} has ${fields} fields`).join("\n"),
    );
  return `${found.flat().length} options, ${many.length} of more than ${MAX_FIELDS} fields with a reason`;
}

function fieldsOf(node: Node, byName: ReadonlyMap<string, Node>): number {
  const body = node["body"] as Node;
  const inherited = (node["extends"] as readonly Node[]).map((clause) => {
    const name = nameOf(clause["expression"]);
    if (name === "Pick") return literalsIn(clause["typeArguments"] as Node);
    const base = byName.get(name);
    return base === undefined ? 0 : fieldsOf(base, byName);
  });
  return (body["body"] as readonly Node[]).length + inherited.reduce((sum, count) => sum + count, 0);
}

const nameOf = (id: unknown): string => (isNode(id) ? String(id["name"]) : "");

/** How many names stand in `Pick<Base, "a" | "b">`. */
const literalsIn = (node: Node): number =>
  node.type === "Literal" ? 1 : childrenOf(node).reduce((sum, child) => sum + literalsIn(child), 0);
