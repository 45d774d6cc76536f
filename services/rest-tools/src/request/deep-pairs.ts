import { encodeValue, refusal } from "./place-value.ts";

/** Brackets are how many services write lists and objects, and mean nothing else in a query. */
export const encodeKey = (argument: string, name: string): string =>
  encodeValue(argument, name).replaceAll("%5B", "[").replaceAll("%5D", "]");

const MAX_DEPTH = 10;

/** The pairs of an object or a list in the style deepObject: `key[name][inner]=value`. @throws {ToolError} */
export function deepPairs(argument: string, key: string, value: object, depth = 0): string[] {
  if (depth > MAX_DEPTH) throw refusal(argument, `it is nested more than ${MAX_DEPTH} levels deep`);
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const inside = `${key}[${encodeValue(argument, name)}]`;
    if (inner === undefined || inner === null) return [];
    if (Array.isArray(inner) && inner.every((each) => typeof each !== "object"))
      return inner.map((each) => `${inside}=${encodeValue(argument, each)}`);
    return typeof inner === "object"
      ? deepPairs(argument, inside, inner, depth + 1)
      : [`${inside}=${encodeValue(argument, inner)}`];
  });
}
