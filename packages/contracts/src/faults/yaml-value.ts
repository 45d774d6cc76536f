/** A document as the parser `yaml` gives it, as far as its value goes. */
export interface YamlDocument {
  toJS(options: { readonly maxAliasCount: number }): unknown;
}

/** Enough for a hand-written file; stops a file whose aliases multiply. */
const MAX_ALIASES = 100;

/**
 * The value of a document without syntax errors, or why its aliases give none: they multiply, lead nowhere, or lead
 * into themselves.
 */
export function yamlValue(document: YamlDocument): { readonly value: unknown; readonly fault?: string } {
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    return { value: undefined, fault: `it has more than ${MAX_ALIASES} aliases, or aliases that cannot be resolved` };
  }
  return isCircular(value, new Set())
    ? { value: undefined, fault: "it has an alias of what the alias is a part of" }
    : { value };
}

function isCircular(value: unknown, above: Set<unknown>): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (above.has(value)) return true;
  above.add(value);
  const found = Object.values(value).some((part) => isCircular(part, above));
  above.delete(value);
  return found;
}
