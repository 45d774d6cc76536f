import { valueAt } from "../json/value-at.ts";

/** A JSON Schema that is an object. */
export type Schema = Readonly<Record<string, unknown>>;

/** The schemas that a validator applies because of one, besides its own keywords. */
export interface Subschemas {
  /** The schemas that apply to the same value. */
  readonly same: readonly Schema[];
  /** The schemas of values in it: by the name of a property, of further properties, and of the elements of a list. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly everyProperty: readonly Schema[];
  readonly first: readonly unknown[];
  readonly everyElement: readonly Schema[];
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];
const values = (value: unknown): readonly unknown[] => (isSchema(value) ? Object.values(value) : []);

/**
 * Finds the subschemas of the schemas of one document, each once. Follows references within the document; others lead
 * nowhere, and so do all in a document with identifiers in its depths.
 * @throws {TypeError} if it is not JSON, such as an object that contains itself
 */
export function subschemasIn(root: Schema): (schema: Schema) => Subschemas {
  const anchors = anchorsIn(root);
  const found = new WeakMap<Schema, Subschemas>();
  const target = (reference: unknown): unknown => {
    const [base, fragment = ""] = String(reference).split("#", 2) as [string, string?];
    if (anchors === undefined || (base !== "" && base !== root["$id"])) return undefined;
    return fragment === "" || fragment.startsWith("/") ? valueAt(root, decoded(fragment)) : anchors.get(fragment);
  };

  return (schema) => {
    const known = found.get(schema);
    if (known !== undefined) return known;
    const { items, additionalItems, prefixItems } = schema;
    const isTuple = Array.isArray(items); // as older drafts have it
    const same = [
      ...["$ref", "$dynamicRef"].flatMap((word) => (word in schema ? [target(schema[word])] : [])),
      ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else"].flatMap((word) => list(schema[word])),
      ...["dependentSchemas", "dependencies"].flatMap((word) => values(schema[word])),
    ];
    const everyProperty = [
      ...["additionalProperties", "unevaluatedProperties"].map((word) => schema[word]),
      ...values(schema["patternProperties"]),
    ];
    const everyElement = [isTuple ? additionalItems : items, schema["contains"], schema["unevaluatedItems"]];
    const subschemas: Subschemas = {
      same: same.filter(isSchema),
      properties: isSchema(schema["properties"]) ? schema["properties"] : {},
      everyProperty: everyProperty.filter(isSchema),
      first: isTuple ? items : list(prefixItems),
      everyElement: everyElement.filter(isSchema),
    };
    found.set(schema, subschemas);
    return subschemas;
  };
}

/** All of them. */
export const allOf = ({ same, properties, everyProperty, first, everyElement }: Subschemas): Schema[] =>
  [...same, ...Object.values(properties), ...everyProperty, ...first, ...everyElement].filter(isSchema);

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/**
 * The schemas that have a name of their own; undefined if some have identifiers, below which references lead elsewhere.
 */
function anchorsIn(root: Schema): ReadonlyMap<string, Schema> | undefined {
  const anchors = new Map<string, Schema>();
  let hasIds = false;
  JSON.stringify(root, (_, value: unknown) => {
    if (!isSchema(value)) return value;
    for (const word of ["$anchor", "$dynamicAnchor"])
      if (typeof value[word] === "string") anchors.set(value[word], value);
    hasIds ||= value !== root && typeof value["$id"] === "string";
    return value;
  });
  return hasIds ? undefined : anchors;
}
