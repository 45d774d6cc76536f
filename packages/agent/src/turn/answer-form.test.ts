import { expect, test } from "vitest";
import { inForm } from "./answer-form.ts";

const item = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
const list = { type: "array", items: item };

test.each<[text: string, schema: object | undefined, expected: object]>([
  ['Here: [{"a": 1}]', list, { json: '[{"a": 1}]' }],
  ['Here: [{"a": 1}, {"a": 2}]. Bye.', list, { json: '[{"a": 1}, {"a": 2}]' }],
  ['```json\n{"b": 1}\n```\n{"a": [2]}', { ...item, required: ["b"] }, { json: '{"b": 1}' }],
  ['```\n7\n```\nThat is {"a": 1}.', item, { json: '{"a": 1}' }],
  ['{"a": "x"}', item, { fault: expect.stringMatching(/does not fit the JSON Schema: .*a: expected/) }],
  ["[1]", undefined, { fault: "it is JSON, but not an object" }],
  ["None.", list, { fault: "it is not valid JSON" }],
])("%j is read as what fits the schema", async (text, schema, expected) => {
  expect(await inForm(text, { schema })).toEqual(expected);
});
