import { type Schema, Validator } from "@cfworker/json-schema";
import { expect, test } from "vitest";
import { callResult } from "../client/call/call-result.ts";
import { toListedTool } from "../serve/tool-listing.ts";
import { busOutput } from "./bus-output.ts";

const $schema = "https://json-schema.org/draft/2020-12/schema";
const node = { type: "object", required: ["next"], properties: { next: { anyOf: [{ $ref: "#" }, { type: "null" }] } } };

test.each<[what: string, schema: object, fits: readonly unknown[], unfit: unknown]>([
  ["an object", { type: "object", required: ["a"] }, [{ a: 1 }], {}],
  ["a list", { $schema, type: "array", items: { type: "number" } }, [[1, 2], []], ["a"]],
  ["a text or null", { anyOf: [{ type: "string" }, { type: "null" }] }, ["a"], 7],
  ["an object or a list", { type: ["object", "array"], minItems: 1, required: ["a"] }, [[1], { a: 1 }], []],
  [
    "a list by a reference",
    { type: "array", items: { $ref: "#/$defs/n" }, $defs: { n: { type: "number" } } },
    [[1]],
    ["a"],
  ],
  [
    "whatever refers to itself",
    { anyOf: [node, { type: "array", items: { $ref: "#" } }] },
    [[], [[]], { next: [] }],
    [1],
  ],
])("the schema of %s holds for the result on the bus, and MCP clients get it as it was", (_, schema, fits, unfit) => {
  const output = busOutput(schema, "peer__tool");
  const check = new Validator(output as Schema, "2020-12");
  const isFit = (structuredContent: unknown) =>
    check.validate(callResult({ content: [], structuredContent: structuredContent as object }).structured).valid;

  expect(fits.map(isFit)).toEqual(fits.map(() => true));
  expect(isFit(unfit)).toBe(false);
  expect(output).toMatchObject({ type: "object" });
  const tool = { name: "tool", description: "", parameters: {}, readOnly: true, idempotent: true };
  expect(toListedTool({ ...tool, output }).outputSchema).toEqual(schema);
});
