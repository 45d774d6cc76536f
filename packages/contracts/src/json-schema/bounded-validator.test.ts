import { expect, test } from "vitest";
import type { Validator } from "../faults/validator.ts";
import { boundedValidator } from "./bounded-validator.ts";

/** One that counts, and is content. */
function validator(): Validator<unknown> & { calls: number } {
  const validate = Object.assign((_: unknown): _ is unknown => validate.calls++ >= 0, { calls: 0, errors: null });
  return validate;
}

const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown =>
  levels === 0 ? 1 : wrap(nested(levels - 1, wrap));
const object = (inner: unknown): unknown => ({ child: inner });

const twice = { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }] };
/** As schemas of expressions are: a value is one of two kinds, each of which may hold any. */
const union = {
  type: "object",
  properties: { child: twice },
  $defs: { a: { properties: { child: twice } }, b: { properties: { child: twice } } },
};

test("a check that doubles with each level of the value is refused before it begins", () => {
  const validate = validator();
  const bounded = boundedValidator(union, validate);
  expect(bounded(nested(8, object))).toBe(true);
  expect(bounded.errors).toBeNull();
  expect(validate.calls).toBe(1);
  expect(bounded(nested(60, object))).toBe(false);
  expect(bounded.errors).toMatchObject([{ instancePath: "", message: expect.stringContaining("nested too deeply") }]);
  expect(validate.calls).toBe(1);
});

test.each<[string, object, unknown]>([
  ["one way for each level", { properties: { child: { $ref: "#" } } }, nested(60, object)],
  ["lists of trees", { type: "array", items: { $ref: "#" } }, nested(60, (inner) => [inner, inner].slice(0, 1))],
  [
    "a long list",
    { properties: { all: { items: { $ref: "#" } } } },
    { all: Array.from({ length: 50_000 }, () => ({ all: [] })) },
  ],
])("a schema that refers to itself checks %s", (_, schema, value) => {
  const validate = validator();
  expect(boundedValidator(schema, validate)(value)).toBe(true);
  expect(validate.calls).toBe(1);
});

test.each<[string, object, unknown]>([
  ["elements", { items: { allOf: [{ $ref: "#" }, { $ref: "#" }] } }, nested(40, (inner) => [inner])],
  ["a tuple", { prefixItems: [{ oneOf: [{ $ref: "#" }, { $ref: "#" }] }] }, nested(40, (inner) => [inner])],
  ["further properties", { additionalProperties: { if: { $ref: "#" }, else: { $ref: "#" } } }, nested(40, object)],
  ["a chain without an end of its own", { $ref: "#/$defs/d0", $defs: chain(40) }, nested(40, object)],
])("the bound holds for %s", (_, schema, value) => {
  const validate = validator();
  expect(boundedValidator(schema, validate)(value)).toBe(false);
  expect(validate.calls).toBe(0);
});

/** Each refers twice to the next for its child, and the last to none. */
function chain(levels: number): Record<string, object> {
  return Object.fromEntries(
    Array.from({ length: levels }, (_, i) => {
      const next = { $ref: `#/$defs/d${i + 1}` };
      return [`d${i}`, i + 1 < levels ? { properties: { child: { allOf: [next, next] } } } : {}];
    }),
  );
}

test("a schema that refers to nothing twice has its own validator", () => {
  const validate = validator();
  expect(
    boundedValidator(
      { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } },
      validate,
    ),
  ).toBe(validate);
});
