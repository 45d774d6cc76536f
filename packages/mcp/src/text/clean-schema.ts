import { cleanText } from "./clean-text.ts";

/** Texts of a schema that people and models read; whatever else is a text has to be the same on the wire. */
const READ: ReadonlySet<string> = new Set(["title", "description", "$comment"]);
const MAX_TEXT = 4 * 1024;
/** Deeper, an interpreter of schemas would need a stack of its own. */
const MAX_DEPTH = 64;

/** A stranger's schema with its descriptions cleaned as a tool's own is, wherever in it they stand. */
export const cleanSchema = (schema: object): object =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    typeof value === "string" && READ.has(key) ? cleanText(value, MAX_TEXT) : value,
  ) as object;

/** True if what a stranger says is nested too deeply to be of use. Without recursion, which that would end. */
export function isTooDeep(root: unknown): boolean {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: root, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value !== "object" || value === null) continue;
    if (depth > MAX_DEPTH) return true;
    for (const inner of Object.values(value)) open.push({ value: inner, depth: depth + 1 });
  }
  return false;
}
