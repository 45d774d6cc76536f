import { expect, test } from "vitest";
import { listTools } from "./list-tools.ts";

const registration = {
  name: "a",
  description: "A.",
  parametersSchema: '{"type":"object"}',
  readOnly: true,
  idempotent: true,
  source: "tests",
};

test("tools are listed with their schemas as objects, which are read once", () => {
  const tools = listTools([registration, { ...registration, name: "b", outputSchema: '{"type":"string"}' }]);

  expect(tools).toEqual([
    { name: "a", description: "A.", parameters: { type: "object" }, readOnly: true, idempotent: true, source: "tests" },
    expect.objectContaining({ name: "b", output: { type: "string" } }),
  ]);
  expect(listTools([registration])[0]).toBe(tools[0]);
});

test.each(["[1]", "no JSON", "null"])("the schema %s promises nothing", (parametersSchema) => {
  expect(listTools([{ ...registration, parametersSchema }])[0]?.parameters).toEqual({});
});
