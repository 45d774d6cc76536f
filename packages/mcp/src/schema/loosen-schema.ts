import type { Schema } from "@cfworker/json-schema";
import { isRecord } from "@rockbot/base";

/**
 * A schema that can be checked in bounded time. It accepts whatever the stranger's schema does, and may accept more.
 */
export interface LoosenedSchema {
  readonly schema: Schema | boolean;
  /** Schemas in it, one below the other and side by side. */
  readonly nodes: number;
  /** The number of keywords that count characters. */
  readonly lengths: number;
}

/** The most nodes with all references written out. */
const MAX_NODES = 5_000;
/** Each level is some calls deep. */
const MAX_DEPTH = 128;

type Json = Readonly<Record<string, unknown>>;
/** `isExact`: it accepts nothing that the stranger's does not. */
interface Loosened {
  readonly schema: Schema | boolean;
  readonly isExact: boolean;
}

const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === "string");
const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

/** Keywords that say all by themselves, and what has to be so for them to mean anything. */
const PLAIN: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) => [value].flat().length > 0 && [value].flat().every((type) => TYPES.has(type)),
  const: () => true,
  enum: Array.isArray,
  required: isNames,
  dependentRequired: (value) => isRecord(value) && Object.values(value).every(isNames),
  minProperties: isCount,
  maxProperties: isCount,
  minItems: isCount,
  maxItems: isCount,
  minLength: isCount,
  maxLength: isCount,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) => isNumber(value) && Number(value) > 0,
};
/**
 * Keywords that are not checked. Some make the time of a check grow faster than schema and value, such as expressions
 * that backtrack; some mean another thing in old drafts.
 */
const UNCHECKED: readonly string[] = [
  "pattern",
  "patternProperties",
  "uniqueItems",
  "format",
  "unevaluatedProperties",
  "unevaluatedItems",
  "dependencies",
  "$dynamicRef",
  "$recursiveRef",
];

class TooLargeError extends Error {}

/**
 * Takes out of a stranger's schema all rules that cannot be checked in bounded time. It writes out the parts that the
 * schema refers to within itself; nothing else is looked up. Where fewer rules would refuse more, as below `not`, more
 * is taken out.
 * @returns undefined if it is too large for that
 */
export function loosenSchema(schema: object): LoosenedSchema | undefined {
  const loosener = new Loosener(schema);
  try {
    const { schema: loosened } = loosener.loosen(schema, []);
    return { schema: loosened, nodes: loosener.nodes, lengths: loosener.lengths };
  } catch (error) {
    if (error instanceof TooLargeError) return undefined;
    throw error;
  }
}

class Loosener {
  nodes = 0;
  lengths = 0;
  readonly #root: object;
  readonly #ignoresBesideRef: boolean;
  /** References below an identifier of its own point to something else. */
  readonly #canRefer: boolean;

  constructor(root: object) {
    this.#root = root;
    this.#ignoresBesideRef = /draft-0[3-7]/.test(String((root as Json)["$schema"] ?? ""));
    this.#canRefer = !/"\$?id"\s*:\s*"[^"]*[:/#]/.test(JSON.stringify({ ...root, $id: undefined, id: undefined }));
  }

  /** @param path the references that led here */
  loosen(schema: unknown, path: readonly string[], depth = 0): Loosened {
    if (++this.nodes > MAX_NODES || depth > MAX_DEPTH) throw new TooLargeError();
    if (typeof schema === "boolean") return { schema, isExact: true };
    if (!isRecord(schema)) return { schema: true, isExact: false };
    const below = (value: unknown): Loosened => this.loosen(value, path, depth + 1);
    if (typeof schema["$ref"] === "string") return this.#withReference(schema, path, depth);

    const parts = new Parts();
    for (const [keyword, isMeant] of Object.entries(PLAIN))
      if (keyword in schema) {
        const value = nullable(schema, keyword);
        parts.add(isMeant(value) ? { [keyword]: value } : undefined);
        if (keyword.endsWith("Length")) this.lengths++;
      }
    parts.isExact &&= !UNCHECKED.some((keyword) => keyword in schema);
    for (const keyword of ["properties", "dependentSchemas"])
      if (keyword in schema) parts.addAll(keyword, schema[keyword], below);
    for (const keyword of ["propertyNames", ...("patternProperties" in schema ? [] : ["additionalProperties"])])
      if (keyword in schema) parts.addOne(keyword, below(schema[keyword]));
    this.#addItems(schema, parts, below);
    for (const keyword of ["allOf", "anyOf", "oneOf"])
      if (keyword in schema) parts.addList(keyword, schema[keyword], below);
    if ("contains" in schema) parts.addContains(schema, below(schema["contains"]));
    if ("not" in schema) parts.addExact("not", below(schema["not"]));
    if ("if" in schema)
      parts.addCondition(
        below(schema["if"]),
        "then" in schema ? below(schema["then"]) : undefined,
        "else" in schema ? below(schema["else"]) : undefined,
      );
    return parts.done();
  }

  #addItems({ prefixItems, items, additionalItems }: Json, parts: Parts, below: (value: unknown) => Loosened): void {
    const isTuple = Array.isArray(items); // as older drafts have it
    const first = prefixItems ?? (isTuple ? items : undefined);
    const rest = isTuple ? additionalItems : items;
    if (first !== undefined) parts.addList("prefixItems", first, below);
    if (rest !== undefined) parts.addOne("items", below(rest));
  }

  #withReference(schema: Json, path: readonly string[], depth: number): Loosened {
    const { $ref, ...beside } = schema;
    const reference = String($ref);
    const target = this.#canRefer && !path.includes(reference) ? targetOf(this.#root, reference) : undefined;
    const referred =
      target === undefined ? { schema: true, isExact: false } : this.loosen(target, [...path, reference], depth + 1);
    if (this.#ignoresBesideRef) return referred;
    const others = this.loosen(beside, path, depth + 1);
    return {
      schema: { allOf: [referred.schema, others.schema] as Schema[] },
      isExact: referred.isExact && others.isExact,
    };
  }
}

/** A schema that is put together, each keyword of it as loose as it has to be. */
class Parts {
  isExact = true;
  readonly #schema: [string, unknown][] = [];
  readonly #also: (Schema | boolean)[] = [];

  /** @param part undefined: it means nothing */
  add(part: Schema | undefined): void {
    if (part === undefined) this.isExact = false;
    else this.#schema.push(...Object.entries(part));
  }

  addOne(keyword: string, { schema, isExact }: Loosened): void {
    this.#schema.push([keyword, schema]);
    this.isExact &&= isExact;
  }

  addAll(keyword: string, schemas: unknown, below: (value: unknown) => Loosened): void {
    this.isExact &&= isRecord(schemas);
    if (!isRecord(schemas)) return;
    const loosened = Object.entries(schemas).map(([name, schema]) => [name, below(schema)] as const);
    this.#schema.push([keyword, Object.fromEntries(loosened.map(([name, { schema }]) => [name, schema]))]);
    this.isExact &&= loosened.every(([, { isExact }]) => isExact);
  }

  /** Alternatives that are not exact may fit several at once. */
  addList(keyword: string, schemas: unknown, below: (value: unknown) => Loosened): void {
    const loosened = Array.isArray(schemas) ? schemas.map(below) : [];
    const areExact = loosened.length > 0 && loosened.every(({ isExact }) => isExact);
    this.isExact &&= areExact;
    if (loosened.length === 0) return;
    const list = loosened.map(({ schema }) => schema);
    if (keyword === "oneOf" && !areExact) this.#also.push({ anyOf: list as Schema[] });
    else if (keyword === "allOf") this.#also.push(...list);
    else this.#schema.push([keyword, list]);
  }

  addContains({ minContains, maxContains }: Json, contains: Loosened): void {
    const counts = Object.entries({ minContains, maxContains }).filter(([, count]) => count !== undefined);
    this.addExact(
      "contains",
      contains,
      counts,
      counts.every(([, count]) => isCount(count)),
    );
  }

  addCondition(condition: Loosened, then: Loosened | undefined, otherwise: Loosened | undefined): void {
    const branches = [
      ...(then === undefined ? [] : [["then", then] as const]),
      ...(otherwise === undefined ? [] : [["else", otherwise] as const]),
    ];
    const sides = branches.map(([name, { schema }]) => [name, schema] as const);
    this.addExact("if", condition, sides);
    this.isExact &&= branches.every(([, { isExact }]) => isExact);
  }

  /** A keyword that refuses more the more its schema accepts: left out if that is not exact. */
  addExact(
    keyword: string,
    { schema, isExact }: Loosened,
    more: readonly (readonly [string, unknown])[] = [],
    isMeant = true,
  ): void {
    this.add(isExact && isMeant ? Object.fromEntries([[keyword, schema], ...more]) : undefined);
  }

  done(): Loosened {
    const schema = Object.fromEntries(this.#schema) as Schema;
    if (this.#also.length > 0) schema.allOf = this.#also as Schema[];
    return { schema, isExact: this.isExact };
  }
}

/** Many authors of schemas for tools write null as OpenAPI does. */
function nullable(schema: Json, keyword: string): unknown {
  const value = schema[keyword];
  if (schema["nullable"] !== true) return value;
  if (keyword === "type") return [value, "null"].flat();
  return keyword === "enum" && Array.isArray(value) ? [...value, null] : value;
}

/** The part of the schema that a reference within it points to. */
export function targetOf(root: unknown, reference: string): unknown {
  if (!/^#(?:\/|$)/.test(reference)) return undefined;
  let at = root;
  for (const step of reference.split("/").slice(1)) {
    const key = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
