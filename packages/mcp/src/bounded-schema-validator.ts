import { type Schema, Validator } from "@cfworker/json-schema";
import type { JsonSchemaType, JsonSchemaValidator, jsonSchemaValidator } from "@modelcontextprotocol/client";

const MAX_SCHEMA_LENGTH = 64 * 1024;
const MAX_FAULT = 300;
/**
 * What makes the time of a check grow faster than schema and value: backtracking expressions, comparisons of all with all,
 * references, which double with each level. Removed, or for references: nothing is checked.
 */
const UNBOUNDED: ReadonlySet<string> = new Set(["pattern", "patternProperties", "uniqueItems", "format"]);
const REFERENCES = /"\$(ref|dynamicRef|recursiveRef)"\s*:/;

/**
 * Checks values against the schemas of strangers, by an interpreter: no code is made of them, nothing is fetched, and the
 * time is bounded by the size of schema and value. A schema that asks for more is not checked, as whoever wrote it wrote
 * the value, too.
 */
export const boundedSchemaValidator: jsonSchemaValidator = {
  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const pass: JsonSchemaValidator<T> = (input) => ({ valid: true, data: input as T, errorMessage: undefined });
    const text = JSON.stringify(schema);
    if (text.length > MAX_SCHEMA_LENGTH || REFERENCES.test(text)) return pass;
    const bounded = JSON.parse(text, (key, value: unknown) => (UNBOUNDED.has(key) ? undefined : value)) as Schema;
    const validator = new Validator(bounded, "2020-12", true);
    return (input) => {
      try {
        const { valid, errors } = validator.validate(input);
        if (valid) return pass(input);
        const [first] = errors;
        return { valid: false, data: undefined, errorMessage: `${first?.instanceLocation ?? ""}: ${first?.error ?? "not valid"}`.slice(0, MAX_FAULT) };
      } catch {
        return pass(input); // a schema that is none
      }
    };
  },
};
