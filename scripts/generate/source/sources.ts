import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { childrenOf, type Node, parseSource } from "./syntax.ts";

export interface Source {
  readonly file: string;
  readonly program: Node;
}

/**
 * What runs in a deployment, parsed: the sources of packages and services without tests, test helpers and generated
 * files.
 */
export async function readSources(): Promise<readonly Source[]> {
  const files = globSync(["packages/*/src/**/*.ts", "services/*/src/**/*.ts"], {
    exclude: ["packages/testing/**", "**/generated/**", "**/conformance/**", "**/*.test.ts", "**/test-*.ts"],
  }).sort();
  return Promise.all(
    files.map(async (file) => ({ file, program: parseSource(file, await readFile(file, "utf8")).program })),
  );
}

/** Every node below `node` and itself, in the order of the text. */
export function nodesIn(node: Node): readonly Node[] {
  const known = nodesOf.get(node);
  if (known !== undefined) return known;
  const nodes = [...walk(node)];
  if (node.type === "Program") nodesOf.set(node, nodes); // whole files are asked for again and again
  return nodes;
}

const nodesOf = new WeakMap<Node, readonly Node[]>();

function* walk(node: Node): Generator<Node> {
  yield node;
  for (const child of childrenOf(node)) yield* walk(child);
}

/** The calls of functions and methods with one of these names. */
export function callsOf(
  source: Source,
  names: ReadonlySet<string>,
): { readonly call: Node; readonly name: string; readonly args: readonly Node[] }[] {
  return nodesIn(source.program).flatMap((call) => {
    if (call.type !== "CallExpression" && call.type !== "NewExpression") return [];
    const name = nameOf(call["callee"] as Node);
    return name !== undefined && names.has(name) ? [{ call, name, args: call["arguments"] as Node[] }] : [];
  });
}

/** The last name of `a`, `a.b`, `a.#b` or `a?.b`, and of a call of it. */
export function nameOf(node: Node | null | undefined): string | undefined {
  if (!node) return undefined;
  if (node.type === "Identifier" || node.type === "PrivateIdentifier") return String(node["name"]);
  if (node.type === "MemberExpression") return nameOf(node["property"] as Node);
  if (node.type === "CallExpression") return nameOf(node["callee"] as Node);
  return undefined;
}

/** The text of a string; in that of a template `{…}` stands for each part that varies. */
export function textOf(node: Node | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node?.type !== "TemplateLiteral") return undefined;
  return (node["quasis"] as Node[]).map((part) => (part["value"] as { cooked: string }).cooked).join("{…}");
}

/** The properties of an object literal by name; those that are spread into it, or computed, are left out. */
export function propertiesOf(node: Node | undefined): ReadonlyMap<string, Node> {
  if (node?.type !== "ObjectExpression") return new Map();
  return new Map(
    (node["properties"] as Node[]).flatMap((property): [string, Node][] => {
      if (property.type !== "Property" || property["computed"] === true) return [];
      const key = property["key"] as Node;
      return [[String(key["name"] ?? key["value"]), property["value"] as Node]];
    }),
  );
}
