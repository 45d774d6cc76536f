import { expect, test } from "vitest";
import { argumentFaults } from "./argument-faults.ts";
import { formSchema } from "./form-schema.ts";

const schemaOf = (schema: object): object => {
  const form = formSchema(schema);
  if ("why" in form) throw new Error(form.why);
  return form.schema;
};

test("names are labels, titles stand with the description, and what may take for ever or leads elsewhere is gone", () => {
  const description = "Of a\u202Estranger";
  const schema = schemaOf({
    $id: "https://example.com/x",
    title: "Whole",
    properties: {
      pattern: { type: "string", pattern: "^(a+)+$", title: "Harmless", description },
      any: true,
      kind: { oneOf: [{ const: "delete", title: "look" }] },
    },
  });
  expect(schema).toEqual({
    description: "Whole",
    properties: {
      pattern: { type: "string", description: "Harmless: Of a\\u{202e}stranger" },
      any: {},
      kind: { oneOf: [{ const: "delete", title: '"delete": look' }] },
    },
  });
});

test("a schema that is too large with its references, or refers to others, has no form, and the words say why", () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => {
      const next = { $ref: `#/$defs/n${n + 1}` };
      return [`n${n}`, { allOf: [next, next] }];
    }),
  );
  const deep = Array.from({ length: 100 }).reduce<object>((inner) => ({ properties: { a: inner } }), {});
  const whys = [
    { $ref: "https://example.com/other.json" },
    { $ref: "#/$defs/none" },
    { dependencies: { a: ["b"], c: { $ref: "#/$defs/none" } } },
    { $ref: "#/$defs/n0", $defs: { ...doubling, n40: {} } },
    deep,
  ].map((schema) => formSchema(schema));
  expect(whys).toEqual([
    { why: expect.stringContaining("another schema") },
    { why: expect.stringContaining("not there") },
    { why: expect.stringContaining("not there") },
    { why: expect.stringContaining("more than 2000 parts") },
    { why: expect.stringContaining("levels") },
  ]);
});

test("a schema that refers to itself has an end", () => {
  const node = { type: "object", properties: { below: { type: "array", items: { $ref: "#/$defs/node" } } } };
  expect(schemaOf({ $ref: "#/$defs/node", $defs: { node } })).toMatchObject({ $ref: "#/$defs/node" });
  expect(argumentFaults({ $ref: "#" }, {})).toEqual([]);
});

test("faults of arguments name the argument, however it is called", () => {
  const schema = schemaOf({
    type: "object",
    required: ["a/b", "list"],
    properties: {
      "a/b": { type: "string" },
      list: { type: "array", items: { type: "object", properties: { "x y": { type: "integer", minimum: 2 } } } },
    },
  });
  expect(argumentFaults(schema, { list: [{}, { "x y": 1 }] })).toEqual([
    { path: ["a/b"], words: "It is missing." },
    { path: ["list", "1", "x y"], words: expect.stringContaining("1 is less than 2") },
  ]);
  expect(argumentFaults(schema, { "a/b": "", list: [] })).toEqual([]);
});
