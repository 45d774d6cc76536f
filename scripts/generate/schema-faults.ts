import { Ajv } from "ajv";
import formatsPlugin from "ajv-formats";
import { namesHelp, nearestName } from "../../packages/contracts/src/faults/describe-faults.ts";
import type { JsonSchema } from "./schema-document.ts";

/** Our own keywords, in any schema that people write here. */
const OWN_KEYWORDS = [
  "x-cacheSeconds",
  "x-dangerous",
  "x-example",
  "x-exampleNeeds",
  "x-fast",
  "x-idempotent",
  "x-message",
  "x-readOnly",
  "x-resultSize",
  "x-secret",
  "x-settings",
  "x-settingsOf",
  "x-unquoted",
  "x-url",
  "x-without",
];

const MAPS_OF_SCHEMAS = ["definitions", "properties", "patternProperties"];
const LISTS_OF_SCHEMAS = ["allOf", "anyOf", "oneOf"];
const SCHEMAS = ["additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"];

const ajv = formatsPlugin.default(new Ajv({ allErrors: true }));
const KEYWORDS = [...OWN_KEYWORDS, ...Object.keys(ajv.RULES.keywords)];

/**
 * All faults of a schema that people wrote, each with its place in it: what draft-07 forbids, keywords that are not
 * known, and references to nothing.
 * @param references what a `$ref` may say
 */
export function schemaFaults(schema: unknown, references: readonly string[]): string[] {
  const said = new Set<string>(); // places whose fault is there already
  const grammar = ajv.validateSchema(schema as object) ? [] : (ajv.errors ?? []);
  const broken = grammar.flatMap(({ instancePath, keyword, message, params }) => {
    if (said.has(instancePath)) return []; // "type" alone breaks three rules at once
    said.add(instancePath);
    const { allowedValues } = params as { readonly allowedValues?: readonly string[] };
    const words =
      keyword === "enum"
        ? `is none of those that there are. ${namesHelp(String(valueThere(schema, instancePath)), allowedValues ?? [])}`
        : message;
    return [`${instancePath.slice(1).replaceAll("/", ".")} ${words}`.trim()];
  });
  return [...broken, ...keywordFaults(schema, "", references)];
}

function keywordFaults(schema: unknown, path: string, references: readonly string[]): string[] {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return []; // true and false are schemas; all else breaks the grammar
  const node = schema as JsonSchema;
  const inner = (key: string, value: unknown): string[] => keywordFaults(value, `${path}${key}.`, references);
  return Object.entries(node).flatMap(([key, value]) => {
    if (key === "$ref")
      return references.includes(String(value))
        ? []
        : [`${path}$ref: "${value}" refers to nothing. ${nearestHelp(String(value), references)}`];
    if (!KEYWORDS.includes(key))
      return [`${path}${key} is no keyword. ${namesHelp(key, key.startsWith("x-") ? OWN_KEYWORDS : KEYWORDS)}`];
    if (MAPS_OF_SCHEMAS.includes(key))
      return Object.entries(value ?? {}).flatMap(([name, child]) => inner(`${key}.${name}`, child));
    if (Array.isArray(value) && [...LISTS_OF_SCHEMAS, "items"].includes(key))
      return value.flatMap((child, index) => inner(`${key}.${index}`, child));
    return SCHEMAS.includes(key) ? inner(key, value) : [];
  });
}

const nearestHelp = (name: string, known: readonly string[]): string => {
  const nearest = nearestName(name, known);
  return nearest === undefined ? "Define it, or refer to a definition that is there." : `Did you mean "${nearest}"?`;
};

const valueThere = (value: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .reduce<unknown>(
      (at, key) => (at as Record<string, unknown>)[key.replaceAll("~1", "/").replaceAll("~0", "~")],
      value,
    );
