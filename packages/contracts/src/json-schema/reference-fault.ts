import { allOf, type Schema, type Subschemas, subschemasIn } from "./subschemas.ts";

/** How many schemas may apply to one value, with all references written out. */
const MAX_APPLIED = 10_000;

/**
 * Why no value can be checked against a schema, in words. Its references lead back to where they began without going
 * into the value, or multiply. Undefined if there is no such reason.
 */
export function referenceFault(root: object): string | undefined {
  let subschemasOf: (schema: Schema) => Subschemas;
  try {
    subschemasOf = subschemasIn(root as Schema);
  } catch (error) {
    return `it is not JSON: ${(error as Error).message.split("\n", 1)[0]}`;
  }
  /** How many schemas apply to a value that a schema applies to; 0 while that is counted. */
  const applied = new Map<Schema, number>();
  const seen = new Set<Schema>();

  function count(schema: Schema): number {
    const known = applied.get(schema);
    if (known === 0)
      throw new ReferenceFault(
        "its references lead back to where they began, and never into the value: no check would end",
      );
    if (known !== undefined) return known;
    applied.set(schema, 0);
    let sum = 1;
    for (const each of subschemasOf(schema).same) sum += count(each);
    if (sum > MAX_APPLIED)
      throw new ReferenceFault(`its references multiply: more than ${MAX_APPLIED} schemas would apply to one value`);
    applied.set(schema, sum);
    return sum;
  }

  try {
    const open = [root as Schema];
    for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
      if (seen.has(schema)) continue;
      seen.add(schema);
      count(schema);
      open.push(...allOf(subschemasOf(schema)));
    }
    return undefined;
  } catch (error) {
    if (error instanceof ReferenceFault) return error.message;
    throw error;
  }
}

class ReferenceFault extends Error {}
