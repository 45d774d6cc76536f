import { expect, test } from "vitest";
import { mendArguments } from "./mend-arguments.ts";

const text = { type: "string" };
const schema = {
  type: "object",
  required: ["path", "depth", "mode"],
  properties: {
    path: text,
    depth: { type: "integer", default: 3 },
    mode: { $ref: "#/$defs/Mode", default: "fast" },
    tag: text,
    maybe: { anyOf: [text, { type: "null" }] },
    nullable: { type: "string", nullable: true },
    kind: { enum: ["a", "b"] },
    anything: {},
    limit: { type: "integer", default: 10 },
    filter: { anyOf: [{ $ref: "#/$defs/Filter" }, { type: "null" }] },
    filters: { type: "array", items: { $ref: "#/$defs/Filter" } },
  },
  $defs: {
    Mode: { enum: ["fast", "slow"] },
    Filter: {
      type: "object",
      required: ["op"],
      properties: { op: { type: "string", default: "=" }, not: { $ref: "#/$defs/Filter" } },
    },
  },
};
const filled = { path: "a", depth: 3, mode: "fast" };

test.each<[string, object, object]>([
  ["a required field that is missing gets its default, an optional one does not", { path: "a" }, filled],
  ["a required field without a default stays missing", { depth: 1, mode: "slow" }, { depth: 1, mode: "slow" }],
  [
    "a null of an optional field is left out where it is refused",
    { ...filled, tag: null, kind: null, limit: null },
    filled,
  ],
  [
    "a null stays where it is taken",
    { ...filled, maybe: null, nullable: null, anything: null, filter: null },
    { ...filled, maybe: null, nullable: null, anything: null, filter: null },
  ],
  [
    "a null of a required field stays, and so does that of a field that nobody knows",
    { ...filled, path: null, other: null },
    { ...filled, path: null, other: null },
  ],
  [
    "so it is in objects and lists within",
    { ...filled, filter: { not: { op: "<", not: null } }, filters: [{}, { op: ">" }] },
    { ...filled, filter: { op: "=", not: { op: "<" } }, filters: [{ op: "=" }, { op: ">" }] },
  ],
])("%s", (_, given, mended) => {
  expect(mendArguments(schema, given as Record<string, unknown>)).toEqual(mended);
});

test("more than a schema should need is left as it is", () => {
  const many = { ...filled, filters: Array.from({ length: 1_000 }, () => ({})) };
  expect(mendArguments(schema, many)).toEqual(many);
  const endless = { type: "object", properties: { a: { $ref: "#/properties/a" } } };
  expect(mendArguments(endless, { a: null })).toEqual({ a: null });
});
