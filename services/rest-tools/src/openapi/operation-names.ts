import { createHash } from "node:crypto";

const MAX_LENGTH = 64;

/** An operation, as far as its name goes. */
export interface NamedOperation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string | undefined;
}

/**
 * A name for each operation: its id, else its method and path, in characters that a model's API takes. One that is cut,
 * or that two operations would have, ends in a hash of method and path, so that it is the same whatever else the
 * document has.
 * @param start how all of them begin
 */
export function operationNames(operations: readonly NamedOperation[], start: string): string[] {
  const plain = operations.map(
    ({ method, path, operationId }) => start + clean(operationId ?? `${method.toLowerCase()}_${pathWords(path)}`),
  );
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  return plain.map((name, i) => {
    if (name.length <= MAX_LENGTH && name !== start && counts.get(name.toLowerCase()) === 1) return name;
    const { method = "", path = "" } = operations[i] ?? {};
    const hash = createHash("sha256").update(`${method} ${path}`).digest("hex").slice(0, 8);
    return `${name.slice(0, MAX_LENGTH - hash.length - 1).replace(/_+$/, "")}_${hash}`;
  });
}

const clean = (text: string): string => text.replaceAll(/[^A-Za-z0-9-]+/g, "_").replaceAll(/^_+|_+$/g, "");

/** `/users/{id}/keys` is `users_by_id_keys`. */
const pathWords = (path: string): string => path.replaceAll(/\{([^{}]*)\}/g, "by_$1");
