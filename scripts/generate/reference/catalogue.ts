import { readFile } from "node:fs/promises";
import { parse } from "yaml";

/**
 * What people have written about things of the code, from `pages/NAME.yaml`: an entry for each name.
 * @param inCode the names that the code has; each needs an entry
 * @param known names that may have one
 * @throws {Error} naming the things without an entry, and the entries of things that are gone
 */
export async function readCatalogue<Entry>(
  name: string,
  inCode: Iterable<string>,
  known: Iterable<string> = [],
): Promise<Readonly<Record<string, Entry>>> {
  const file = `pages/${name}.yaml`;
  const entries = parse(await readFile(new URL(`../${file}`, import.meta.url), "utf8")) as Record<string, Entry>;
  const needed = new Set(inCode);
  const all = new Set([...needed, ...known]);
  const faults = [
    ...[...needed]
      .filter((key) => !Object.hasOwn(entries, key))
      .map((key) => `${JSON.stringify(key)} of the code has no entry: add one`),
    ...Object.keys(entries)
      .filter((key) => !all.has(key))
      .map((key) => `${JSON.stringify(key)} is nowhere in the code any more: change or remove the entry`),
  ];
  if (faults.length > 0) throw new Error(`Cannot generate, see scripts/generate/${file}:\n${faults.join("\n")}`);
  return entries;
}

/**
 * The members of an `as const` object of strings or numbers, or of a union of strings, with their doc comments, as text
 * of the file has them.
 */
export function documentedMembers(text: string): readonly { readonly doc: string; readonly value: string }[] {
  const members = text.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])+)\*\/\n\s+(?:\w+: |\| )"?(\w+)"?[,;\n]/g);
  return [...members].map(([, doc, value]) => ({
    doc: String(doc)
      .replaceAll(/\n\s*\* ?/g, " ")
      .trim()
      .replaceAll(/\s+/g, " "),
    value: String(value),
  }));
}
