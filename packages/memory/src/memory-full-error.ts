import { familyNamespace } from "./session-namespace.ts";

/** A text was not kept, as that would exceed a bound of the memory. The message says which, and what to do. */
export class MemoryFullError extends Error {
  override readonly name = "MemoryFullError";
}

/** The bound that a text would exceed. */
export type ExceededBound = {
  readonly kind: "entries" | "chunks" | "bytes" | "total" | "store";
  readonly max: number;
  /** Milliseconds until the next entry of the owner expires, if one does. */
  readonly nextEndMs: number | undefined;
};

/** The error in words. @param keys of what was to be kept */
export function memoryFullError(
  keys: readonly string[],
  namespace: string,
  { kind, max, nextEndMs }: ExceededBound,
): MemoryFullError {
  const what = keys.length === 1 ? `"${keys[0]}"` : `${keys.length} texts, such as "${keys[0]}"`;
  const bound = {
    entries: `"${namespace}" may have ${max} entries`,
    chunks: `"${namespace}" may have ${max} chunks of large results`,
    bytes: `one caller may keep ${max} bytes`,
    total: `this process may keep ${max} bytes`,
    store: "Redis reserves the rest of its memory for more important records",
  }[kind];
  // No tool deletes entries of a whiteboard: their writers set when they end.
  const how = namespace.startsWith(familyNamespace(""))
    ? "An entry of the whiteboard that is not needed any more ends soon if it is written with the ttl_minutes 1."
    : "Delete entries that are not needed any more.";
  const next = nextEndMs === undefined ? "" : ` The next one expires in ${Math.ceil(nextEndMs / 1000)} s.`;
  return new MemoryFullError(
    `Cannot keep ${what}: working memory is full, as ${bound}. Nothing was kept. ${how}${next}`,
  );
}
