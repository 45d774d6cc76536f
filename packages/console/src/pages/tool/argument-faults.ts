import { type Schema, Validator } from "@cfworker/json-schema";
import { visible } from "../../look/visible.ts";

/** A fault of arguments, and where it is. */
export interface ArgumentFault {
  /** Names of properties and places in lists, from the outside. */
  readonly path: readonly string[];
  readonly words: string;
}

/** Only say that something below them failed. */
const WRAPPERS: ReadonlySet<string> = new Set(
  ["properties", "items", "prefixItems", "allOf", "$ref", "if", "then", "else"].concat(["dependentSchemas"]),
);
const MAX_FAULTS = 20;
const MAX_WORDS = 300;

/** True if a value fits a schema, as far as that can be said. No code is made of the schema. */
export function fits(schema: object, value: unknown): boolean {
  try {
    return new Validator(schema as Schema, "2020-12", true).validate(value).valid;
  } catch {
    return true; // a schema that is none, or one that has no end: the service decides
  }
}

/** What a schema has against arguments. It is a hint for who types: the service decides. */
export function argumentFaults(schema: object, args: object): readonly ArgumentFault[] {
  try {
    const { errors } = new Validator(schema as Schema, "2020-12", false).validate(args);
    const told = errors.filter(({ keyword }) => !WRAPPERS.has(keyword));
    const faults = told.map(({ keyword, instanceLocation, error }) => {
      const path = pathOf(instanceLocation);
      const [, missing] = keyword === "required" ? (/property "(.*)"/s.exec(error) ?? []) : [];
      return missing === undefined
        ? { path, words: visible(error).slice(0, MAX_WORDS) }
        : { path: [...path, missing], words: "It is missing." };
    });
    return [...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values()].slice(0, MAX_FAULTS);
  } catch {
    return [];
  }
}

const pathOf = (location: string): string[] =>
  decoded(location)
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

function decoded(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}
