import { cleanText } from "./clean-text.ts";

/** Texts of a schema that people and models read; whatever else is a text has to be the same on the wire. */
const READ: ReadonlySet<string> = new Set(["title", "description", "$comment"]);
const MAX_TEXT = 4 * 1024;
/** Deeper, an interpreter of schemas would need a stack of its own. */
const MAX_DEPTH = 64;

/** A stranger's schema with its descriptions cleaned as a tool's own is, wherever in it they stand; undefined if it is nested too deeply to be of use. */
export function cleanSchema(schema: object): object | undefined {
  return isTooDeep(schema)
    ? undefined
    : (JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
        typeof value === "string" && READ.has(key) ? cleanText(value, MAX_TEXT) : value,
      ) as object);
}

/** Without recursion, which a deep schema would end. */
function isTooDeep(root: object): boolean {
  const open: { readonly value: object; readonly depth: number }[] = [{ value: root, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > MAX_DEPTH) return true;
    for (const value of Object.values(next.value)) if (typeof value === "object" && value !== null) open.push({ value, depth: next.depth + 1 });
  }
  return false;
}
