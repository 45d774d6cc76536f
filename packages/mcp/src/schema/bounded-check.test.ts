import { describeFaults, faultsText } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { boundedSchemaValidator, validatorOf } from "./bounded-schema-validator.ts";

const isValid = (schema: object, value: unknown): boolean =>
  boundedSchemaValidator.getValidator(schema as never)(value).valid;

function faultsOf(schema: object, value: unknown): string {
  const validate = validatorOf(schema);
  return validate(value) ? "" : faultsText(describeFaults(validate, schema, value));
}

test("a value is checked against types, required properties and limits", () => {
  const schema = { type: "object", required: ["n"], properties: { n: { type: "integer", maximum: 3 } } };
  expect([isValid(schema, { n: 1 }), isValid(schema, {}), isValid(schema, { n: 4 }), isValid(schema, "text")]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("all faults are told at once, in the words that our own tools have", () => {
  const schema = {
    type: "object",
    required: ["city", "days"],
    additionalProperties: false,
    properties: {
      city: { type: "string", minLength: 2 },
      days: { type: ["integer", "null"], maximum: 7 },
      unit: { enum: ["C", "F"] },
      "a/b": { $ref: "#/$defs/point" },
    },
    $defs: { point: { type: "object", required: ["x"], properties: { x: { type: "number" } } } },
  };
  const faults = faultsOf(schema, { days: 9, unit: "K", citty: "Bern", "a/b": { x: "1" } });
  expect(faults.split("; ").sort()).toEqual([
    'a~1b/x: expected number, got the text "1"',
    "city: is required and missing",
    "days: 9 is greater than 7, got the number 9",
    'unit: expected one of ["C","F"], got the text "K"',
    'unknown property "citty": did you mean "city"?, got an object',
  ]);
});

const text = { type: "string" };
/** Schemas of which a part is not checked, or that are slightly wrong, with values that they take. */
const accepted: readonly (readonly [string, object, unknown])[] = [
  [
    "a property called pattern",
    { type: "object", properties: { pattern: text }, additionalProperties: false },
    { pattern: "x" },
  ],
  [
    "properties called as keywords are",
    { type: "object", properties: { format: text, not: text, $ref: text }, additionalProperties: false },
    { format: "a", not: "b", $ref: "c" },
  ],
  [
    "additional properties beside names by pattern",
    { type: "object", patternProperties: { "^x-": text }, additionalProperties: false },
    { "x-a": "b" },
  ],
  ["not a pattern", { not: { pattern: "^a" } }, "b"],
  [
    "not, deep below it a pattern",
    { not: { type: "object", properties: { a: { anyOf: [{ pattern: "^a" }] } } } },
    { a: "b" },
  ],
  [
    "one of two patterns",
    {
      oneOf: [
        { type: "string", pattern: "^a" },
        { type: "string", pattern: "^b" },
      ],
    },
    "ab",
  ],
  ["if a pattern", JSON.parse('{"if":{"pattern":"^a"},"then":{"maxLength":1}}') as object, "bcd"],
  ["contains a pattern, at most once", { contains: { pattern: "^a" }, maxContains: 1 }, ["a", "b"]],
  [
    "a type that nobody knows",
    { type: "object", properties: { a: { type: "float" }, b: { type: "any" } } },
    { a: 1.5, b: [] },
  ],
  ["required as a truth", { type: "object", properties: { a: { type: "string", required: true } } }, { a: "x" }],
  ["a limit as draft 4 has it", { type: "number", minimum: 3, exclusiveMinimum: true }, 4],
  [
    "a tuple as draft 7 has it",
    { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }, { type: "number" }] },
    ["a", 1, null],
  ],
  [
    "what stands beside a reference in draft 7",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      $ref: "#/definitions/a",
      type: "string",
      definitions: { a: { type: "number" } },
    },
    1,
  ],
  ["nullable, as OpenAPI says", { type: "string", nullable: true, enum: ["a"] }, null],
  [
    "a reference to itself",
    { type: "object", properties: { children: { type: "array", items: { $ref: "#" } } } },
    { children: [{ children: [{ children: 7 }] }] },
  ],
  ["a reference to nowhere", { properties: { a: { $ref: "#/$defs/none" } } }, { a: 1 }],
  ["a remote reference", { properties: { a: { $ref: "https://schema.example/a.json" } } }, { a: 1 }],
  [
    "references below another identifier",
    {
      $defs: {
        b: { $id: "https://b.example/", $defs: { c: { type: "string" } }, $ref: "#/$defs/c" },
        c: { type: "number" },
      },
      $ref: "#/$defs/b",
    },
    "x",
  ],
  ["an email by its format", { format: "email" }, "none"],
  [
    "keywords that are none",
    { required: "a", properties: [], enum: "x", allOf: {}, items: 7, minimum: "3", multipleOf: 0 },
    { b: 1 },
  ],
];
test.each(accepted)("%s: nothing is refused that the schema takes", (_, schema, value) => {
  expect(faultsOf(schema, value)).toBe("");
});

/** What is checked all the same. */
const refused: readonly (readonly [string, object, unknown])[] = [
  ["a reference within", { $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, 1],
  ["a reference of a reference", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { type: "string" } } }, 1],
  ["what stands beside a reference", { $ref: "#/$defs/a", required: ["x"], $defs: { a: { type: "object" } } }, {}],
  [
    "the first round of a schema that refers to itself",
    { type: "object", properties: { child: { $ref: "#" } }, required: ["a"] },
    { a: 1, child: {} },
  ],
  ["both of allOf", { allOf: [{ type: "object" }, { required: ["a"] }] }, {}],
  ["none of anyOf", { anyOf: [{ type: "string" }, { type: "number" }] }, null],
  ["two of oneOf", { oneOf: [{ type: "number" }, { minimum: 0 }] }, 1],
  ["not", { not: { type: "string" } }, "x"],
  ["then", JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}') as object, { a: 1 }],
  ["items", { items: { type: "string" } }, ["a", 1]],
  ["prefixItems", { prefixItems: [{ type: "string" }] }, [1]],
  ["contains", { contains: { type: "string" } }, [1]],
  ["a type beside a pattern", { type: "string", pattern: "(a+)+$" }, 1],
  ["false", { properties: { a: false } }, { a: 1 }],
  ["a name", { propertyNames: { maxLength: 1 } }, { ab: 1 }],
];
test.each(refused)("%s: what the schema refuses is refused", (_, schema, value) => {
  expect(faultsOf(schema, value)).not.toBe("");
});

test.each([
  [
    "a large value and a large schema",
    { items: { anyOf: Array.from({ length: 1_000 }, (_, i) => ({ const: i })) } },
    Array.from({ length: 90_000 }, () => -1),
  ],
  ["faults without end", { items: { type: "string" } }, Array.from({ length: 90_000 }, () => 1)],
  ["a schema without a floor", JSON.parse(`${'{"items":'.repeat(2_000)}{}${"}".repeat(2_000)}`) as object, []],
  [
    "a chain of references",
    {
      $ref: "#/$defs/d0",
      $defs: Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }])),
    },
    1,
  ],
  [
    "long texts that many count",
    { allOf: Array.from({ length: 2_000 }, () => ({ maxLength: 2_000_000 })) },
    "x".repeat(1_000_000),
  ],
  ["a backtracking pattern", { type: "string", pattern: "^(a+)+$" }, `${"a".repeat(50_000)}!`],
  [
    "a pattern of names",
    { type: "object", patternProperties: { "^(a+)+$": { type: "number" } } },
    { [`${"a".repeat(50_000)}!`]: "text" },
  ],
  ["a reference to the network", { $ref: "http://169.254.169.254/schema.json" }, {}],
  ["a reference to itself", { $ref: "#" }, {}],
  ["references that double", { $defs: doubling(40), $ref: "#/$defs/d0" }, {}],
  [
    "a comparison of all with all",
    { type: "array", uniqueItems: true },
    Array.from({ length: 20_000 }, (_, i) => ({ i })),
  ],
  ["no schema at all", { type: 7 }, {}],
])("%s costs nothing", (_, schema, value) => {
  const startedAt = performance.now();
  isValid(schema, value);
  expect(performance.now() - startedAt).toBeLessThan(30_000); // without bounds: for ever
});

function doubling(levels: number): object {
  return Object.fromEntries(
    Array.from({ length: levels }, (_, i) => [
      `d${i}`,
      { not: { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] } },
    ]).concat([[`d${levels}`, { not: {} }]] as never),
  );
}
