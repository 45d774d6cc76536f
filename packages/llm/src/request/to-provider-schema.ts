import { isRecord } from "@rockbot/base";

type Schema = Record<string, unknown>;

const isSchema = (value: unknown): boolean => isRecord(value) || typeof value === "boolean";
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isText = (value: unknown): boolean => typeof value === "string";
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);

const TYPES = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);
/** Alternatives that no provider takes at the top level. */
const ALTERNATIVES = ["oneOf", "anyOf", "allOf", "enum", "not", "const", "if", "then", "else"];
/** A longer text of what was taken out helps no model. */
const LONGEST_NOTE = 600;
const DEEPEST = 64;
/** What Anthropic takes as the name of a property at the top. */
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** A keyword with a value that its own rule refuses is left out: it says nothing, and would cost the whole request. */
const RULES: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...of(isCount, "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains"),
  ...of(isNumber, "minimum maximum exclusiveMinimum exclusiveMaximum"),
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  ...of(isText, "title description pattern format $ref $comment contentEncoding contentMediaType"),
  ...of(isFlag, "uniqueItems deprecated readOnly writeOnly"),
  ...of(
    isSchema,
    "additionalProperties not contains propertyNames if then else unevaluatedItems unevaluatedProperties items",
  ),
  ...of(isRecord, "properties patternProperties $defs definitions dependentSchemas"),
  ...of((value) => Array.isArray(value) && value.length > 0, "oneOf anyOf allOf prefixItems"),
  ...of(Array.isArray, "enum required examples"),
};

function of(rule: (value: unknown) => boolean, names: string): Record<string, (value: unknown) => boolean> {
  return Object.fromEntries(names.split(" ").map((name) => [name, rule]));
}

const SCHEMA = new Set(
  "additionalProperties not contains propertyNames if then else unevaluatedItems unevaluatedProperties items".split(
    " ",
  ),
);
const SCHEMAS_BY_NAME = new Set("properties patternProperties $defs definitions dependentSchemas".split(" "));
const SCHEMAS = new Set("oneOf anyOf allOf prefixItems".split(" "));

const loosened = new WeakMap<object, object>();

/**
 * A tool's schema in a form that OpenAI and Anthropic both take. One schema that they refuse would cost every request,
 * not only its tool. Keywords that they refuse are loosened, never tightened, and put into the description where short:
 * the runner of the tool checks its arguments.
 *
 * - The top is an object, without alternatives: their properties are merged.
 * - Each array says of what. Tuples and bounds of older drafts become those of 2020-12.
 * - Names that Anthropic does not take, and keywords with impossible values, are left out.
 *
 * @see https://github.com/openclaw/openclaw/issues/98588 Anthropic holds schemas to draft 2020-12
 * @see https://github.com/diegosouzapw/OmniRoute/issues/13552 what Anthropic refuses besides
 * @see https://github.com/chatanywhere/GPT_API_free/issues/403 what OpenAI refuses at the top
 */
export function toProviderSchema(schema: object): object {
  let result = loosened.get(schema);
  if (result === undefined) {
    result = topOf(schema as Schema);
    loosened.set(schema, result);
  }
  return result;
}

function topOf(given: Schema): Schema {
  const { $schema: _, $id: __, ...loose } = loosen(referred(given), 0) as Schema;
  const alternatives = ALTERNATIVES.filter((word) => word in loose);
  const rest = Object.fromEntries(Object.entries(loose).filter(([word]) => !ALTERNATIVES.includes(word)));
  const merged = { ...branchProperties(loose), ...(isRecord(rest.properties) ? rest.properties : {}) };
  const known = Object.entries(merged).filter(([name]) => PROPERTY.test(name));
  const unknown = Object.keys(merged).filter((name) => !PROPERTY.test(name));
  const properties = Object.fromEntries(known);
  const required = Array.isArray(rest.required)
    ? rest.required.filter((name) => Object.hasOwn(properties, String(name)))
    : [];
  const notes = [
    ...alternatives.map((word) => note(`${word}: ${JSON.stringify(loose[word])}`)),
    ...(unknown.length === 0
      ? []
      : [note(`There are also the properties ${unknown.map((name) => JSON.stringify(name)).join(", ")}.`)]),
  ];
  const description = [rest.description, ...notes].filter((text) => typeof text === "string" && text !== "").join("\n");
  const { required: ___, description: ____, ...other } = rest;
  return {
    ...other,
    ...(description !== "" && { description }),
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
  };
}

const note = (text: string): string => (text.length > LONGEST_NOTE ? "" : text);

/** What a reference at the top leads to, beside what stands there. */
function referred(schema: Schema): Schema {
  if (typeof schema.$ref !== "string") return schema;
  const [, group, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(schema.$ref) ?? [];
  const found = group === undefined || name === undefined ? undefined : (schema[group] as Schema | undefined)?.[name];
  const { $ref: _, ...rest } = schema;
  return isRecord(found) ? { ...found, ...rest } : rest;
}

/** The properties that alternatives name, all optional. */
function branchProperties(schema: Schema): Schema {
  const branches = ["allOf", "anyOf", "oneOf"].flatMap((word) =>
    Array.isArray(schema[word]) ? (schema[word] as unknown[]) : [],
  );
  return Object.assign(
    {},
    ...[...branches, schema.then, schema.else].map((branch) =>
      isRecord(branch) && isRecord(branch.properties) ? branch.properties : {},
    ),
  );
}

function loosen(schema: unknown, depth: number): unknown {
  if (!isRecord(schema)) return typeof schema === "boolean" ? schema : {};
  if (depth > DEEPEST) return {};
  const result: Schema = {};
  for (const [word, value] of Object.entries(modern(schema))) {
    if (word === "type" ? !isType(value) : RULES[word]?.(value) === false) continue;
    if (word === "$schema" || word === "id") continue;
    result[word] =
      word === "required" ? [...new Set((value as unknown[]).filter(isText))] : loosenValue(word, value, depth + 1);
  }
  const isArray = result.type === "array" || (Array.isArray(result.type) && result.type.includes("array"));
  return isArray && result.items === undefined && result.prefixItems === undefined ? { ...result, items: {} } : result;
}

function loosenValue(word: string, value: unknown, depth: number): unknown {
  if (SCHEMA.has(word)) return loosen(value, depth);
  if (SCHEMAS.has(word)) return (value as unknown[]).map((each) => loosen(each, depth));
  if (SCHEMAS_BY_NAME.has(word))
    return Object.fromEntries(Object.entries(value as Schema).map(([name, each]) => [name, loosen(each, depth)]));
  return value;
}

const isType = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0 && new Set(value).size === value.length && value.every((each) => TYPES.has(String(each)))
    : TYPES.has(String(value));

/** Tuples and bounds of drafts 4 to 7, as draft 2020-12 writes them. */
function modern(schema: Schema): Schema {
  const { additionalItems, ...rest } = schema;
  if (Array.isArray(rest.items)) {
    const { items, ...others } = rest;
    return { ...bounds(others), prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) };
  }
  return bounds(rest);
}

function bounds(schema: Schema): Schema {
  const result = { ...schema };
  for (const [flag, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof result[flag] !== "boolean") continue;
    if (result[flag] && isNumber(result[bound])) {
      result[flag] = result[bound];
      delete result[bound];
    } else delete result[flag];
  }
  return result;
}
