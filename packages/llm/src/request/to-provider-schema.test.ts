import { startModelServer } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { createModel } from "../create-model.ts";
import { toProviderSchema } from "./to-provider-schema.ts";

const text = { type: "string" };

/** Schemas that servers of MCP give, each refused by OpenAI or by Anthropic. */
const REFUSED: Readonly<Record<string, object>> = {
  "without a type": { properties: { a: text } },
  "of another type": { type: "array", items: text },
  "with alternatives at the top": {
    type: "object",
    properties: { a: text },
    anyOf: [{ required: ["a"] }, { properties: { b: text }, required: ["b"] }],
  },
  "that is an alternative": {
    oneOf: [{ type: "object", properties: { a: text } }, { $ref: "#/$defs/b" }],
    $defs: { b: { type: "object" } },
  },
  "with not, and enum, at the top": { type: "object", not: { required: ["a"] }, enum: [{}] },
  "with an array of anything": {
    type: "object",
    properties: {
      list: { type: "array" },
      deep: { type: "object", properties: { list: { type: ["array", "null"] } } },
    },
  },
  "with a tuple of draft 7": {
    type: "object",
    properties: { pair: { type: "array", items: [text, { type: "number" }], additionalItems: false } },
  },
  "with bounds of draft 4": {
    $schema: "http://json-schema.org/draft-04/schema#",
    type: "object",
    properties: { n: { type: "number", minimum: 1, exclusiveMinimum: true } },
  },
  "with a reference at the top": {
    $ref: "#/definitions/Input",
    definitions: { Input: { type: "object", properties: { a: text } } },
  },
  "with names of properties that are no words": {
    type: "object",
    properties: { "a b": text, "c[]": text, d: text },
    required: ["a b", "d"],
  },
  "with keywords of wrong types": {
    type: "object",
    properties: { a: { type: "text", minLength: "1", pattern: 5, description: null } },
    required: true,
  },
  "with names twice in required": { type: "object", properties: { a: text }, required: ["a", "a", 5] },
  "with an empty alternative": {
    type: "object",
    properties: { a: { anyOf: [] }, b: { type: [] }, c: { type: ["string", "string"] }, d: { multipleOf: 0 } },
  },
  "that is no schema": [] as object,
};

describe.each(["openai", "anthropic"] as const)("a provider that speaks as %s", (protocol) => {
  test("takes each schema that it would refuse, once it is loosened", async () => {
    await using server = await startModelServer(() => ({ text: "Yes." }));
    const model = createModel({ url: server.url, apiKey: server.apiKey, model: server.model, protocol });
    const tools = Object.values(REFUSED).map((parameters, index) => ({
      name: `tool_${index}`,
      description: "A tool.",
      parameters,
    }));

    await model.answer({ messages: [{ role: "user", content: "?" }], tools });

    expect(server.requests[0]?.toolNames).toHaveLength(tools.length);
  });
});

test("what is left out at the top is said", () => {
  expect(toProviderSchema(REFUSED["with alternatives at the top"] as object)).toEqual({
    description: 'anyOf: [{"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]',
    type: "object",
    properties: { b: text, a: text },
  });
  expect(toProviderSchema(REFUSED["with names of properties that are no words"] as object)).toEqual({
    description: 'There are also the properties "a b", "c[]".',
    type: "object",
    properties: { d: text },
    required: ["d"],
  });
});

test("older drafts say the same in the newest", () => {
  expect(toProviderSchema(REFUSED["with a tuple of draft 7"] as object)).toMatchObject({
    properties: { pair: { type: "array", prefixItems: [text, { type: "number" }], items: false } },
  });
  expect(toProviderSchema(REFUSED["with bounds of draft 4"] as object)).toMatchObject({
    properties: { n: { type: "number", exclusiveMinimum: 1 } },
  });
  expect(toProviderSchema(REFUSED["with a reference at the top"] as object)).toMatchObject({
    type: "object",
    properties: { a: text },
  });
});

test("a good schema stays as it is, names such as those of keywords included", () => {
  const good = {
    type: "object",
    description: "Good.",
    properties: {
      type: text,
      items: { type: "array", items: { $ref: "#/$defs/node" } },
      required: { type: "boolean", default: { type: 5 } },
    },
    required: ["type"],
    additionalProperties: false,
    $defs: { node: { type: "object", properties: { next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } } } },
  };
  expect(toProviderSchema(good)).toEqual(good);
  expect(toProviderSchema(good)).toBe(toProviderSchema(good));
});

test("a schema that nests without end does not", () => {
  let deep: object = text;
  for (let level = 0; level < 10_000; level++) deep = { type: "object", properties: { a: deep } };
  expect(JSON.stringify(toProviderSchema(deep)).length).toBeLessThan(10_000);
});
