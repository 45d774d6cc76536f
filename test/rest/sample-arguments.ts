type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const FORMATS: Readonly<Record<string, string>> = {
  date: "2024-02-29",
  "date-time": "2024-02-29T12:30:00Z",
  uuid: "123e4567-e89b-42d3-a456-426614174000",
  email: "ada@example.com",
  uri: "https://example.com/a?b=c&d#e",
};

/** Arguments that fit a tool's schema: all that is required, and of the rest as much as `most`. The same each time. */
export function sampleArguments(
  schema: object,
  { most = 4 }: { readonly most?: number } = {},
): Record<string, unknown> {
  const value = sample(schema as Json, schema as Json, most, 0);
  return isObject(value) ? { ...value } : {};
}

function sample(given: unknown, root: Json, most: number, depth: number): unknown {
  const schema = merged(given, root);
  const {
    enum: values,
    type,
    format,
    minimum,
    exclusiveMinimum,
    minLength = 0,
    minItems = 1,
    properties = {},
    required = [],
    items = {},
  } = schema;
  if ("const" in schema) return schema["const"];
  if (Array.isArray(values)) return values[0];
  const kind = [type].flat().find((each) => each !== "null") ?? (isObject(schema["properties"]) ? "object" : "string");
  const below = (inner: unknown): unknown => sample(inner, root, depth > 3 ? 0 : most, depth + 1);
  switch (kind) {
    case "integer":
    case "number":
      return typeof minimum === "number"
        ? minimum
        : typeof exclusiveMinimum === "number"
          ? exclusiveMinimum + 1
          : kind === "integer"
            ? 7
            : 1.5;
    case "boolean":
      return true;
    case "array":
      return depth > 8 && minItems === 1
        ? []
        : Array.from({ length: Math.max(Number(minItems), depth > 8 ? 0 : 1) }, () => below(items));
    case "object": {
      const names = required as readonly string[];
      const optional = Object.keys(properties as Json).filter((name) => !names.includes(name));
      const chosen = [...names, ...(depth > 3 ? [] : optional.slice(0, most))];
      return Object.fromEntries(
        chosen.map((name) => [name, below(Object.hasOwn(properties as Json, name) ? (properties as Json)[name] : {})]),
      );
    }
    default:
      if (schema["contentEncoding"] === "base64") return "aGVsbG8=";
      return (FORMATS[String(format)] ?? "a b/c=d:ü").padEnd(Number(minLength), "x");
  }
}

/** The schema with its reference, its parts and the first of its alternatives in it. */
function merged(given: unknown, root: Json, steps = 0): Json {
  if (!isObject(given) || steps > 12) return {};
  const { $ref, allOf = [], anyOf = [], oneOf = [], ...own } = given;
  const referred = typeof $ref === "string" ? (root["$defs"] as Json)[$ref.slice("#/$defs/".length)] : {};
  const first = [anyOf, oneOf].map((list) =>
    (list as readonly unknown[]).find((each) => !(isObject(each) && each["type"] === "null")),
  );
  let sum: Json = own;
  for (const part of [referred, ...(allOf as readonly unknown[]), ...first].map((each) =>
    merged(each, root, steps + 1),
  )) {
    const properties = { ...(part["properties"] as Json), ...(sum["properties"] as Json) };
    const required = [...new Set([part, sum].flatMap((each) => (each["required"] as string[] | undefined) ?? []))];
    sum = Object.assign({}, part, sum, { properties, required });
  }
  return sum;
}
