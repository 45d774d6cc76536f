import { isRecord } from "@rockbot/base";
import { targetOf } from "./loosen-schema.ts";

type Json = Readonly<Record<string, unknown>>;

/** Objects, properties and names of what is required, together: more are not looked at. */
const MAX_STEPS = 100_000;
/** A default may be long, and stand in each element of a list. */
const MAX_FILLED = 100;
const MAX_REFERENCES = 16;

class TooMuchError extends Error {}

/**
 * Arguments that a stranger's schema refuses, as its author's own server most likely takes them. A required field that
 * is missing gets its default. A null is left out where its field is optional and takes no null. Nothing else is
 * changed; the outcome may still not fit.
 * @param args what the schema refuses
 */
export function mendArguments(schema: object, args: Record<string, unknown>): Record<string, unknown> {
  try {
    return new Mender(schema).mend(schema, args) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof TooMuchError || error instanceof RangeError) return args;
    throw error;
  }
}

class Mender {
  readonly #root: object;
  readonly #refusesNull = new Map<object, boolean>();
  #steps = 0;
  #filled = 0;

  constructor(root: object) {
    this.#root = root;
  }

  mend(schema: unknown, value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    const { properties, required, items } = this.#formOf(schema);
    if (Array.isArray(value))
      return isRecord(items) ? value.map((element) => this.mend(items, this.#step(element))) : value;
    const known: Json = isRecord(properties) ? properties : {};
    const isKnown = (name: string): boolean => Object.hasOwn(known, name);
    const needed = new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []);
    const kept = Object.entries(value).flatMap(([name, inner]) => {
      if (!isKnown(this.#step(name))) return [[name, inner]];
      return inner === null && !needed.has(name) && this.#refuses(known[name])
        ? []
        : [[name, this.mend(known[name], inner)]];
    });
    const filled = [...needed].flatMap((name) => {
      const { default: given } =
        isKnown(this.#step(name)) && !Object.hasOwn(value, name) ? this.#resolved(known[name]) : {};
      if (given !== undefined && ++this.#filled > MAX_FILLED) throw new TooMuchError();
      return given === undefined ? [] : [[name, given]];
    });
    return Object.fromEntries([...kept, ...filled]);
  }

  #step<T>(value: T): T {
    if (++this.#steps > MAX_STEPS) throw new TooMuchError();
    return value;
  }

  /** What the schema refers to, with what stands beside the reference. */
  #resolved(schema: unknown): Json {
    let at: Json = isRecord(schema) ? schema : {};
    for (let count = 0; typeof at["$ref"] === "string" && count < MAX_REFERENCES; count++) {
      const { $ref, ...beside } = at;
      const target = targetOf(this.#root, String($ref));
      at = isRecord(target) ? { ...target, ...beside } : beside;
    }
    return at;
  }

  /** Many authors write a field that may be null as two alternatives: the form is that of the other one. */
  #formOf(schema: unknown): Json {
    const at = this.#resolved(schema);
    const forms = [at["anyOf"], at["oneOf"]]
      .flatMap((list) => (Array.isArray(list) ? list : []))
      .filter((form) => !isRecord(form) || form["type"] !== "null");
    return forms.length === 1 && !isRecord(at["properties"]) ? this.#resolved(forms[0]) : at;
  }

  #refuses(schema: unknown): boolean {
    if (!isRecord(schema)) return false;
    const known = this.#refusesNull.get(schema);
    if (known !== undefined) return known;
    this.#refusesNull.set(this.#step(schema), false); // a schema may refer to itself
    const { type, enum: values, const: only, nullable, anyOf, oneOf, allOf } = this.#resolved(schema);
    const isRefused = [
      type !== undefined && ![type].flat().includes("null"),
      Array.isArray(values) && !values.includes(null),
      only !== undefined && only !== null,
      ...[anyOf, oneOf].map((list) => Array.isArray(list) && list.every((form) => this.#refuses(form))),
      Array.isArray(allOf) && allOf.some((form) => this.#refuses(form)),
    ].some(Boolean);
    this.#refusesNull.set(schema, isRefused && nullable !== true);
    return isRefused && nullable !== true;
  }
}
