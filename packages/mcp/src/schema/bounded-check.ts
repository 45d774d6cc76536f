import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import { nearestName, type SchemaError } from "@rockbot/contracts";
import { type LoosenedSchema, loosenSchema } from "./loosen-schema.ts";

/** The faults of a value; none if it fits, or if that cannot be said. */
export type ValueCheck = (value: unknown) => readonly SchemaError[];

/** The bound of the work of one check: schemas times values. */
const MAX_WORK = 2_000_000;
/** Faults are noted, which takes memory: in a check with more work only the first one is reported. */
const MAX_NOTED_WORK = 100_000;
/** A long text costs only those that count its characters. */
const CHARACTERS_PER_STEP = 32;
const MAX_VALUES = 100_000;
/** Only say that something below them failed. */
const WRAPPERS: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "prefixItems",
  "allOf",
  "$ref",
  "if",
  "dependentSchemas",
  "propertyNames",
]);
const MAX_QUOTED = 500;

/**
 * Checks values against a stranger's schema, by an interpreter: no code is made of it, nothing is fetched, and the time
 * is bounded. Rules that cannot be checked so are left out: a value is refused only if the schema refuses it.
 */
export function boundedCheck(schema: object): ValueCheck {
  const loosened = loosenSchema(schema);
  if (loosened === undefined) return () => [];
  const first = new Validator(loosened.schema as Schema, "2020-12", true);
  const all = new Validator(loosened.schema as Schema, "2020-12", false);
  return (value) => {
    const work = workOf(value, loosened);
    if (work > MAX_WORK) return [];
    try {
      const { valid, errors } = first.validate(value);
      if (valid) return [];
      return schemaErrors(work > MAX_NOTED_WORK ? errors : all.validate(value).errors, loosened.schema);
    } catch {
      return []; // a schema that is none
    }
  };
}

function workOf(root: unknown, { nodes, lengths }: LoosenedSchema): number {
  let values = 0;
  let characters = 0;
  const open: unknown[] = [root];
  for (let value = open.pop(); values < MAX_VALUES; value = open.pop()) {
    values++;
    if (typeof value === "string") characters += value.length;
    else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) open.push(inner);
    if (open.length === 0) return nodes * values + (lengths * characters) / CHARACTERS_PER_STEP;
  }
  return Number.POSITIVE_INFINITY;
}

function schemaErrors(units: readonly OutputUnit[], schema: Schema | boolean): readonly SchemaError[] {
  const unknown = new Set(
    units.filter(({ keyword }) => keyword === "additionalProperties").map(({ instanceLocation }) => instanceLocation),
  );
  const told = units.filter(({ keyword, instanceLocation }) => {
    if (keyword === "false") return !unknown.has(instanceLocation.slice(0, instanceLocation.lastIndexOf("/")));
    return !WRAPPERS.has(keyword);
  });
  return (told.length === 0 ? units : told).map((unit) => schemaError(unit, schema));
}

/** In the form that our own validators have. */
function schemaError(
  { keyword, instanceLocation, keywordLocation, error }: OutputUnit,
  schema: Schema | boolean,
): SchemaError {
  const at = { keyword, instancePath: decodedPointer(instanceLocation), schemaPath: keywordLocation, params: {} };
  const [, quoted = ""] = /"(.*)"/s.exec(error) ?? [];
  switch (keyword) {
    case "required":
      return { ...at, params: { missingProperty: quoted } };
    case "type":
      return { ...at, params: { type: (/Expected "(.*)"\.$/s.exec(error)?.[1] ?? "").split('", "') } };
    case "additionalProperties":
      return { ...at, keyword: "unknown property", message: unknownProperty(quoted, schema, keywordLocation) };
    case "anyOf":
    case "oneOf":
      return {
        ...at,
        message:
          keyword === "anyOf"
            ? "expected one of several forms, and it has none"
            : "expected exactly one of several forms",
      };
    case "enum":
      return {
        ...at,
        keyword: "enum ",
        message: error
          .replace("Instance does not match any of", "expected one of")
          .replace(/\.$/, "")
          .slice(0, MAX_QUOTED),
      };
    case "false":
      return { ...at, message: "nothing may stand here" };
    default:
      return { ...at, keyword: `${keyword} `, message: error.replace(/\.$/, "").slice(0, MAX_QUOTED) };
  }
}

function unknownProperty(name: string, schema: unknown, keywordLocation: string): string {
  let at = schema;
  for (const step of keywordLocation.split("/").slice(1, -1))
    at = typeof at === "object" && at !== null ? (at as Record<string, unknown>)[decodedPointer(step)] : undefined;
  const known = Object.keys((at as { readonly properties?: object } | undefined)?.properties ?? {});
  const nearest = nearestName(name, known);
  const help =
    nearest === undefined
      ? known.length === 0
        ? ""
        : `: known are ${known.join(", ").slice(0, MAX_QUOTED)}`
      : `: did you mean "${nearest}"?`;
  return `unknown property "${name.slice(0, 80)}"${help}`;
}

function decodedPointer(pointer: string): string {
  const path = pointer.replace(/^#/, "");
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
