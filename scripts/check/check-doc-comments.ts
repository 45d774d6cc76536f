import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Node, parseSource } from "../generate/source/syntax.ts";
import { readEnglish } from "./docs/read-english.ts";
import { commentBlocks } from "./docs/source-texts.ts";

interface Parsed {
  readonly text: string;
  readonly body: readonly Node[];
  readonly docs: readonly { readonly value: string; readonly end: number }[];
}

/** Where an exported name is declared, with the comment that stands there. */
interface Declared {
  readonly file: string;
  readonly line: number;
  readonly name: string;
  readonly doc: string | undefined;
}

/** Packages for tests alone. */
const leftOut: ReadonlySet<string> = new Set(["testing"]);

/**
 * Fails on names that a package offers without a doc comment, and on doc comments that are hard to read.
 * @returns what was read
 */
export async function checkDocComments(root: string): Promise<string> {
  const entries = globSync(["packages/*/package.json", "services/*/package.json"], { cwd: root })
    .filter((file) => !leftOut.has(file.split("/")[1] ?? ""))
    .flatMap((file) => entriesOf(root, file));
  const files = new Map<string, Parsed>();
  const declared = new Map(
    entries.flatMap((entry) => exportsOf(root, entry, files)).map((found) => [`${found.file}:${found.name}`, found]),
  );
  const faults = [...declared.values()].flatMap(faultsOf);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return `${declared.size} names`;
}

/** The files that other packages may import. */
function entriesOf(root: string, manifest: string): string[] {
  const { exports = {} } = JSON.parse(readFileSync(join(root, manifest), "utf8")) as {
    readonly exports?: Readonly<Record<string, string>>;
  };
  return Object.values(exports)
    .map((path) => join(dirname(manifest), path))
    .filter((path) => path.endsWith(".ts"));
}

function faultsOf({ file, line, name, doc }: Declared): string[] {
  const where = `${file}:${line} ${name}`;
  if (doc === undefined) return [`${where}: has no doc comment`];
  return commentBlocks(doc).flatMap((block) => readEnglish(block).faults.map((fault) => `${where}: ${fault}`));
}

/** Every name that a file offers, at its declaration; names of other packages are read where they are declared. */
function exportsOf(root: string, file: string, files: Map<string, Parsed>): Declared[] {
  const parsed = parse(root, file, files);
  return parsed.body.flatMap((node) => {
    const from = (node["source"] as { readonly value: string } | null | undefined)?.value;
    if (node.type === "ExportAllDeclaration")
      return from?.startsWith(".") ? exportsOf(root, join(dirname(file), from), files) : [];
    if (node.type !== "ExportNamedDeclaration") return [];
    const own = node["declaration"] as Node | null | undefined;
    if (own) return namesOf(own).flatMap((name) => declarationOf(root, file, name, files));
    return (node["specifiers"] as readonly { readonly local: { readonly name: string } }[]).flatMap(({ local }) => {
      if (from === undefined) return declarationOf(root, file, local.name, files);
      return from.startsWith(".") ? declarationOf(root, join(dirname(file), from), local.name, files) : [];
    });
  });
}

/** Follows a name to the file that declares it. Generated files have the words of their schemas. */
function declarationOf(root: string, file: string, name: string, files: Map<string, Parsed>): Declared[] {
  if (file.includes("/generated/") || !existsSync(join(root, file))) return [];
  const { body, text, docs } = parse(root, file, files);
  const found: Declared[] = [];
  for (const node of body) {
    const inner = (node["declaration"] as Node | null | undefined) ?? node;
    if (namesOf(inner).includes(name)) {
      const before = docs.find(
        ({ end }) => end <= node.start && /^\s*(?:\/\/[^\n]*\n\s*)*$/.test(text.slice(end, node.start)),
      );
      found.push({ file, line: text.slice(0, node.start).split("\n").length, name, doc: before?.value });
    }
    const from = (node["source"] as { readonly value: string } | null | undefined)?.value;
    if (node.type === "ExportNamedDeclaration" && from?.startsWith(".")) {
      const specifier = (
        node["specifiers"] as readonly {
          readonly local: { readonly name: string };
          readonly exported: { readonly name: string };
        }[]
      ).find(({ exported }) => exported.name === name);
      if (specifier !== undefined) return declarationOf(root, join(dirname(file), from), specifier.local.name, files);
    }
    if (node.type === "ImportDeclaration") {
      const specifier = (
        node["specifiers"] as readonly {
          readonly local: { readonly name: string };
          readonly imported?: { readonly name: string };
        }[]
      ).find(({ local }) => local.name === name);
      if (specifier !== undefined)
        return from?.startsWith(".")
          ? declarationOf(root, join(dirname(file), from), specifier.imported?.name ?? name, files)
          : [];
    }
  }
  // A constant and a type of one name, or overloads, share a comment; one of them has it.
  const [first] = found.filter(({ doc }) => doc !== undefined);
  return first !== undefined ? [first] : found.slice(0, 1);
}

function namesOf(node: Node): string[] {
  const id = node["id"] as { readonly name?: string } | null | undefined;
  if (id?.name !== undefined) return [id.name];
  const declarations = (node["declarations"] ?? []) as readonly { readonly id: { readonly name?: string } }[];
  return declarations.flatMap(({ id }) => id.name ?? []);
}

function parse(root: string, file: string, files: Map<string, Parsed>): Parsed {
  const known = files.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, file), "utf8");
  const { program, comments } = parseSource(file, text);
  const docs = comments
    .filter(({ type, value }) => type === "Block" && value.startsWith("*"))
    .map(({ value, end }) => ({ value, end }));
  const parsed = { text, body: program["body"] as readonly Node[], docs };
  files.set(file, parsed);
  return parsed;
}
