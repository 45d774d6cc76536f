import { expect, test } from "vitest";
import { boundedSchemaValidator } from "./bounded-schema-validator.ts";

const isValid = (schema: object, value: unknown): boolean => boundedSchemaValidator.getValidator(schema as never)(value).valid;

test("a value is checked against types, required properties and limits", () => {
  const schema = { type: "object", required: ["n"], properties: { n: { type: "integer", maximum: 3 } } };
  expect([isValid(schema, { n: 1 }), isValid(schema, {}), isValid(schema, { n: 4 }), isValid(schema, "text")]).toEqual([true, false, false, false]);
});

test.each([
  ["a backtracking pattern", { type: "string", pattern: "^(a+)+$" }, `${"a".repeat(50_000)}!`],
  ["a pattern of names", { type: "object", patternProperties: { "^(a+)+$": { type: "number" } } }, { [`${"a".repeat(50_000)}!`]: "text" }],
  ["a reference to the network", { $ref: "http://169.254.169.254/schema.json" }, {}],
  ["a reference to itself", { $ref: "#" }, {}],
  ["references that double", { $defs: doubling(40), $ref: "#/$defs/d0" }, {}],
  ["a comparison of all with all", { type: "array", uniqueItems: true }, Array.from({ length: 20_000 }, (_, i) => ({ i }))],
  ["no schema at all", { type: 7 }, {}],
])("%s costs nothing", (_, schema, value) => {
  const startedAt = performance.now();
  isValid(schema, value);
  expect(performance.now() - startedAt).toBeLessThan(2_000); // without bounds: for ever
});

function doubling(levels: number): object {
  return Object.fromEntries(
    Array.from({ length: levels }, (_, i) => [`d${i}`, { not: { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] } }]).concat([
      [`d${levels}`, { not: {} }],
    ] as never),
  );
}
