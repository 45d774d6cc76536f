/** The parts of a JSON Schema that say what a value may begin as. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

const EMPTY: Readonly<Record<string, unknown>> = { string: "", number: 0, integer: 0, boolean: false, array: [] };
const MAX_DEPTH = 4;

/** What a person starts from who fills in a tool's arguments: all that are required, with defaults and examples. */
export function firstArguments(schema: object): object {
  const value = firstValue(schema as Schema, 0);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function firstValue(schema: Schema, depth: number): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  if (schema.const !== undefined) return schema.const;
  const choice = (schema.oneOf ?? schema.anyOf)?.[0];
  if (choice !== undefined && schema.properties === undefined && depth < MAX_DEPTH)
    return firstValue(choice, depth + 1);
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  if (type !== undefined && Object.hasOwn(EMPTY, type)) return EMPTY[type];
  if (schema.properties === undefined || depth === MAX_DEPTH) return type === "object" || depth === 0 ? {} : null;
  const { properties, required = [] } = schema;
  return Object.fromEntries(required.map((name) => [name, firstValue(properties[name] ?? {}, depth + 1)]));
}
