import { Ajv2020 } from "ajv/dist/2020.js";

type Schema = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * What OpenAI refuses in a function's parameters, in its words.
 * @see https://github.com/chatanywhere/GPT_API_free/issues/403 for the top level
 */
export function openAiSchemaFault(name: string, schema: unknown): string | undefined {
  const invalid = `Invalid schema for function '${name}': `;
  if (!isObject(schema)) return `${invalid}${JSON.stringify(schema)} is not of type 'object', 'boolean'.`;
  if (schema.type !== "object")
    return `${invalid}schema must be a JSON Schema of 'type: "object"', got 'type: "${schema.type ?? "None"}"'.`;
  if (["oneOf", "anyOf", "allOf", "enum", "not"].some((word) => word in schema)) {
    return `${invalid}schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`;
  }
  const where = arrayWithoutItems(schema, []);
  if (where === undefined) return undefined;
  const context = `(${where.map((word) => `'${word}'`).join(", ")}${where.length === 1 ? "," : ""})`;
  return `${invalid}In context=${context}, array schema missing items.`;
}

/** Where a schema says `array` and not of what. */
function arrayWithoutItems(schema: unknown, path: readonly string[]): readonly string[] | undefined {
  if (Array.isArray(schema)) return first(schema.entries(), path);
  if (!isObject(schema)) return undefined;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (types.includes("array") && schema.items === undefined && schema.prefixItems === undefined) return path;
  return first(Object.entries(schema), path);
}

function first(entries: Iterable<[string | number, unknown]>, path: readonly string[]): readonly string[] | undefined {
  for (const [key, value] of entries) {
    if (DATA.has(String(key))) continue;
    const found = arrayWithoutItems(value, [...path, String(key)]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Keywords whose values are no schemas. */
const DATA = new Set(["default", "const", "enum", "examples", "required"]);

/**
 * What Anthropic refuses in a tool's input schema, in its words. It holds schemas to draft 2020-12.
 * @see https://github.com/openclaw/openclaw/issues/98588 for the draft,
 * https://github.com/diegosouzapw/OmniRoute/issues/13552 for the rest
 */
export function anthropicSchemaFault(index: number, schema: unknown): string | undefined {
  const at = `tools.${index}.custom.input_schema`;
  if (!isObject(schema)) return `${at}: Input should be a valid dictionary`;
  if (schema.type === undefined) return `${at}.type: Field required`;
  if (schema.type !== "object") return `${at}.type: Input should be 'object'`;
  if (["oneOf", "anyOf", "allOf"].some((word) => word in schema))
    return `${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`;
  if (
    Object.keys(isObject(schema.properties) ? schema.properties : {}).some((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key))
  ) {
    return `${at}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`;
  }
  return isDraft2020(schema)
    ? undefined
    : `${at}: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.anthropic.com/en/docs/tool-use.`;
}

/** By the keywords that a schema has: another draft that `$schema` names is let pass. */
function isDraft2020({ $schema: _, ...schema }: Schema): boolean {
  draft2020 ??= new Ajv2020({ strict: false, logger: false });
  return draft2020.validateSchema(schema) === true;
}

/** One for all requests: it compiles the draft. */
let draft2020: Ajv2020 | undefined;
