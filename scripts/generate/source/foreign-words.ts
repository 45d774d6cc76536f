import { callsOf, nodesIn, type Source, textOf } from "./sources.ts";
import type { Node } from "./syntax.ts";

/** A part of the code by which others' words reach a model. */
export interface ForeignWords {
  /**
   * The package or service, and whether others say the words now or define what they offer by them; or it fences them
   * for a model.
   */
  readonly key: string;
  /** Where in it, below `src`. */
  readonly files: readonly string[];
}

/** The one place that says how a text carries whose words it is. */
const HOME = "packages/contracts/src/foreign-words.ts";
const KINDS: Readonly<Record<string, string>> = {
  saidBy: "says",
  definedBy: "defines",
  mcpServerTrust: "defines",
  fence: "fences",
};

/** Every place that labels or fences others' words. @throws {Error} naming the places that label them in another way */
export function foreignWords(sources: readonly Source[]): readonly ForeignWords[] {
  const others = sources.filter(({ file }) => file !== HOME);
  const bare = others.filter(({ program }) => nodesIn(program).some(labelsBarely)).map(({ file }) => file);
  if (bare.length > 0)
    throw new Error(
      `Cannot list others' words: use saidBy or definedBy of ${HOME} instead of a level in ${bare.join(", ")}`,
    );
  const found = new Map<string, Set<string>>();
  for (const source of others) {
    const [room, folder, , ...rest] = source.file.split("/");
    const part = `${room}/${folder}`;
    for (const { name } of callsOf(source, new Set(Object.keys(KINDS)))) {
      if (name === "fence" && part !== "packages/agent") continue; // others have fences of code, and of leases
      const key = `${part} ${KINDS[name]}`;
      found.set(key, (found.get(key) ?? new Set()).add(rest.join("/")));
    }
  }
  return [...found].map(([key, files]) => ({ key, files: [...files] })).sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Tells whether this is `level: "untrusted"`, alone or as one of two values. */
const labelsBarely = (node: Node): boolean =>
  node.type === "Property" &&
  (node["key"] as Node)["name"] === "level" &&
  (node["value"] as Node).type !== "ObjectExpression" && // a schema
  nodesIn(node["value"] as Node).some((each) => textOf(each) === "untrusted");
