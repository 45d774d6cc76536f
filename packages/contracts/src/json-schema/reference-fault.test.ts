import { expect, test } from "vitest";
import { referenceFault } from "./reference-fault.ts";

const NO_END = /lead back to where they began/;
/** d0 twice refers to d1, and so on. */
const doubling = (levels: number, refer: (reference: object) => object): Record<string, object> =>
  Object.fromEntries(
    Array.from({ length: levels }, (_, i) => [`d${i}`, i + 1 < levels ? refer({ $ref: `#/$defs/d${i + 1}` }) : {}]),
  );

test.each<[string, object, RegExp]>([
  ["refers to itself", { $ref: "#" }, NO_END],
  ["has itself among its parts", { allOf: [{ $ref: "#" }] }, NO_END],
  [
    "refers to what refers to it",
    {
      $ref: "#/$defs/a",
      $defs: { a: { $ref: "#/$defs/b" }, b: { anyOf: [{ type: "string" }, { $ref: "#/$defs/a" }] } },
    },
    NO_END,
  ],
  [
    "does so for a property",
    { properties: { x: { $ref: "#/$defs/a" } }, $defs: { a: { if: { not: { $ref: "#/$defs/a" } } } } },
    NO_END,
  ],
  [
    "does so by an anchor",
    { properties: { x: { $ref: "#me" } }, $defs: { a: { $anchor: "me", oneOf: [{ $ref: "#me" }] } } },
    NO_END,
  ],
  ["does so by a dynamic anchor", { $dynamicAnchor: "n", allOf: [{ $dynamicRef: "#n" }] }, NO_END],
  ["does so by its identifier", { $id: "urn:a", allOf: [{ $ref: "urn:a" }] }, NO_END],
  [
    "refers to twice as many with each step",
    { $ref: "#/$defs/d0", $defs: doubling(40, (next) => ({ allOf: [next, next] })) },
    /references multiply/,
  ],
  ["contains itself as an object", Object.assign({ properties: {} as Record<string, object> }, {}), /not JSON/],
])("a schema that %s is told as such", (what, schema, fault) => {
  if (what === "contains itself as an object")
    (schema as { properties: Record<string, object> }).properties["self"] = schema;
  expect(referenceFault(schema)).toMatch(fault);
});

test.each<[string, object]>([
  ["a tree", { type: "object", properties: { children: { type: "array", items: { $ref: "#" } } } }],
  [
    "a schema that refers to itself for each property",
    { additionalProperties: { anyOf: [{ $ref: "#" }, { type: "number" }] } },
  ],
  [
    "one that refers to the same twice",
    { allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }], $defs: { a: { type: "object" } } },
  ],
  [
    "one that refers to nowhere, or elsewhere",
    { allOf: [{ $ref: "#/$defs/none" }, { $ref: "https://schema.example/#" }] },
  ],
  [
    "one whose parts have identifiers",
    { $defs: { a: { $id: "urn:b", allOf: [{ $ref: "#/$defs/c" }], $defs: { c: {} } }, c: { $ref: "#/$defs/a" } } },
  ],
  [
    "one that has references as data",
    { const: { $ref: "#" }, default: { $ref: "#" }, properties: { $ref: { type: "string" } } },
  ],
])("%s can be used", (_, schema) => {
  expect(referenceFault(schema)).toBeUndefined();
});
