import { valueAt } from "@rockbot/contracts";

/** A JSON Schema, as far as the command line reads it. */
export type Schema = Readonly<Record<string, unknown>>;

/** The schemas that a schema offers: itself, and the branches of `$ref`, `anyOf`, `oneOf` and `allOf`, each once. */
export function resolved(schema: Schema, root: Schema, seen: Set<unknown> = new Set()): Schema[] {
  if (typeof schema !== "object" || schema === null || seen.has(schema)) return [];
  seen.add(schema);
  const { $ref, anyOf, oneOf, allOf } = schema;
  const target = typeof $ref === "string" && $ref.startsWith("#") ? valueAt(root, $ref.slice(1)) : undefined;
  const branches = [target, anyOf, oneOf, allOf].flatMap((branch) => branch ?? []) as Schema[];
  return [schema, ...branches.flatMap((branch) => resolved(branch, root, seen))];
}

/** The JSON types that a schema allows; nothing if it does not say. */
export function typesOf(schema: Schema, root: Schema): ReadonlySet<string> | undefined {
  const types = new Set<string>();
  for (const { type, enum: values, const: value } of resolved(schema, root)) {
    if (type !== undefined) for (const name of [type].flat()) types.add(String(name));
    else
      for (const one of [...(Array.isArray(values) ? values : []), ...(value === undefined ? [] : [value])])
        types.add(typeOf(one));
  }
  return types.size === 0 ? undefined : types;
}

/** The named properties of a schema and its branches. */
export function propertiesOf(schema: Schema, root: Schema): Readonly<Record<string, Schema>> {
  return Object.assign({}, ...resolved(schema, root).map(({ properties }) => properties ?? {})) as Record<
    string,
    Schema
  >;
}

const typeOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
