import { isRecord } from "@rockbot/base";
import { cleanText } from "@rockbot/mcp/schema";
import { HANDLE_PATTERN } from "@rockbot/records/files";
import { type Json, type OpenApiDocument, referred } from "./open-api-document.ts";

/**
 * All parts that a tool's schema refers to, together, in characters: what is beyond is left open. A model has to read
 * it.
 */
const MAX_PARTS = 60_000;
const MAX_DEPTH = 30;
const MAX_DESCRIPTION = 1_000;
const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const COUNTS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

/** The bound for one value: beyond, further schemas say nothing of what is read-only. */
const MAX_SAME = 100;
const NONE: ReadonlySet<string> = new Set();

interface SchemaContext {
  /** True if bytes in it are files of a form. */
  readonly hasFiles?: boolean;
  /** Properties that the object around it has in responses only. */
  readonly unasked?: ReadonlySet<string>;
}

/** A file in a multipart form, as a model gives it. */
const FILE = {
  type: "object",
  additionalProperties: false,
  anyOf: [{ required: ["base64"] }, { required: ["file"] }],
  properties: {
    filename: { type: "string" },
    contentType: { type: "string" },
    base64: { type: "string", contentEncoding: "base64", description: "The file's bytes." },
    file: { type: "string", pattern: HANDLE_PATTERN, description: "The handle of a file, in the place of base64." },
  },
};

/**
 * Makes schemas of the document into schemas of tools, which hold all that they refer to. What is not understood is
 * left out, so that the schema compiles: it may allow more than the document does, not less.
 */
export class ToolSchemas {
  /** By the names that references have. */
  readonly parts: Record<string, unknown> = {};
  readonly #document: OpenApiDocument;
  readonly #names = new Map<string, string>();
  #room = MAX_PARTS;

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  schema(given: unknown, { hasFiles = false, unasked = NONE }: SchemaContext = {}, depth = 0): unknown {
    if (typeof given === "boolean") return given;
    if (!isRecord(given) || depth > MAX_DEPTH) return {};
    if (hasFiles && isBytes(given)) return { ...FILE, ...described(given) };
    const { $ref } = given;
    const hidden = new Set([...unasked, ...this.#readOnlyNames(given)]);
    const below = (value: unknown): unknown => this.schema(value, { hasFiles }, depth + 1);
    const sameObject = (value: unknown): unknown => this.schema(value, { hasFiles, unasked: hidden }, depth + 1);
    const schema: Record<string, unknown> = {
      ...(typeof $ref === "string" ? this.#reference($ref, { hasFiles, unasked: hidden }, depth) : {}),
      ...plainRules(given),
      ...described(given),
    };
    const { properties, required } = given;
    const isOurs = (name: string): boolean => !hidden.has(name);
    if (isRecord(properties))
      schema["properties"] = Object.fromEntries(
        Object.entries(properties)
          .filter(([name]) => isOurs(name))
          .map(([name, value]) => [name, below(value)]),
      );
    if (Array.isArray(required))
      schema["required"] = [...new Set(required.filter((name) => typeof name === "string" && isOurs(name)))];
    for (const keyword of ["allOf", "anyOf", "oneOf", "prefixItems"]) {
      const list = given[keyword];
      if (Array.isArray(list) && list.length > 0)
        schema[keyword] = list.map(keyword === "prefixItems" ? below : sameObject);
    }
    for (const keyword of ["items", "additionalProperties", "not", "propertyNames"]) {
      const value = given[keyword];
      if (typeof value === "boolean" || isRecord(value)) schema[keyword] = below(value);
    }
    return schema;
  }

  /** What responses alone have of an object. A request is not asked for it, though the object requires it. */
  #readOnlyNames(given: Json): ReadonlySet<string> {
    const names = new Set<string>();
    for (const { properties } of this.#sameValue(given))
      if (isRecord(properties))
        for (const [name, value] of Object.entries(properties))
          if (isRecord(value) && [...this.#sameValue(value)].some(({ readOnly }) => readOnly === true)) names.add(name);
    return names;
  }

  /**
   * The schemas that all hold for the value that `given` describes: itself, what it refers to, and the members of its
   * allOf.
   */
  #sameValue(given: Json): ReadonlySet<Json> {
    const found = new Set([given]);
    for (const { $ref, allOf } of found) // a set's loop also meets what is added on the way
      for (const each of [
        ...(typeof $ref === "string" ? [this.#referred($ref)] : []),
        ...(Array.isArray(allOf) ? allOf : []),
      ])
        if (isRecord(each) && found.size < MAX_SAME) found.add(each);
    return found;
  }

  #referred(reference: string): unknown {
    try {
      return referred(this.#document.root, reference);
    } catch {
      return undefined;
    }
  }

  /** A part once, however often it is referred to; nothing of it, once there is no room. */
  #reference(reference: string, { hasFiles, unasked }: Required<SchemaContext>, depth: number): Json {
    const key = JSON.stringify([reference, hasFiles, [...unasked].sort()]);
    const known = this.#names.get(key);
    if (known !== undefined) return { $ref: `#/$defs/${known}` };
    const target = this.#referred(reference);
    if (target === undefined) return {};
    const size = JSON.stringify(target).length;
    if (size > this.#room) return {};
    this.#room -= size;
    const base =
      reference
        .slice(reference.lastIndexOf("/") + 1)
        .replaceAll(/[^A-Za-z0-9_.-]/g, "_")
        .slice(0, 64) || "part";
    const name = Object.hasOwn(this.parts, base) ? `${base}_${Object.keys(this.parts).length}` : base;
    this.#names.set(key, name);
    this.parts[name] = {};
    this.parts[name] = this.schema(target, { hasFiles, unasked }, Math.min(depth, MAX_DEPTH / 2) + 1);
    return { $ref: `#/$defs/${name}` };
  }
}

/** Bytes of OpenAPI 3.0 have no type any more, once the document is in the form of 3.1. */
const isBytes = ({ format, contentMediaType, type = "string" }: Json): boolean =>
  format === "binary" ||
  (type === "string" &&
    typeof contentMediaType === "string" &&
    contentMediaType.startsWith("application/octet-stream"));

function described({ description, title, default: preset }: Json): Json {
  return {
    ...(typeof title === "string" && description === undefined ? { title: cleanText(title, 200) } : {}),
    ...(typeof description === "string" ? { description: cleanText(description, MAX_DESCRIPTION) } : {}),
    ...(preset === undefined || typeof preset === "object" ? {} : { default: preset }),
  };
}

function plainRules(given: Json): Record<string, unknown> {
  const rules: Record<string, unknown> = {};
  const types = [given["type"]].flat().filter((type) => TYPES.has(type));
  if (types.length === 1) rules["type"] = types[0];
  else if (types.length > 1) rules["type"] = [...new Set(types)];
  const { enum: values, pattern, format, multipleOf, uniqueItems } = given;
  if (Array.isArray(values) && values.length > 0)
    rules["enum"] = [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
  if ("const" in given) rules["const"] = given["const"];
  for (const name of COUNTS)
    if (Number.isSafeInteger(given[name]) && Number(given[name]) >= 0) rules[name] = given[name];
  for (const name of NUMBERS) if (Number.isFinite(given[name])) rules[name] = given[name];
  if (typeof multipleOf === "number" && multipleOf > 0) rules["multipleOf"] = multipleOf;
  if (uniqueItems === true) rules["uniqueItems"] = true;
  if (typeof format === "string") rules["format"] = format.slice(0, 64);
  if (typeof pattern === "string" && isPattern(pattern)) rules["pattern"] = pattern;
  return rules;
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, "u");
    return text.length <= 1_000;
  } catch {
    return false;
  }
}
