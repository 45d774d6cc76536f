import { createMemoryBus, createToolCaller, defineTool, serveTools } from "rockbot";
import { expect, test } from "vitest";
import { toolDefinition } from "./tool-definition.ts";

const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  additionalProperties: false,
  required: ["city"],
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, default: 3 }, since: { type: "string", format: "date" } },
};

test("a tool of a JSON Schema gets its arguments checked, with defaults, and callers are told all faults", async () => {
  await using bus = createMemoryBus();
  const forecast = toolDefinition<{ city: string; days: number }>({ name: "forecast", description: "The weather.", inputSchema: schema, readOnly: true });
  const tool = defineTool(forecast, async ({ city, days }) => `${days} days of sun in ${city}`);
  await using _ = await serveTools(bus, { tools: [tool] }, { service: "weather" });
  await using agent = await createToolCaller(bus, { agent: "tests" });
  await agent.discovered();

  expect(await agent.call("forecast", { city: "Oslo" })).toMatchObject({ content: "3 days of sun in Oslo" });
  const wrong = agent.call("forecast", { ctiy: "Oslo", since: "yesterday" });
  await expect(wrong).rejects.toMatchObject({ code: "invalid_arguments" });
  await expect(wrong).rejects.toThrow(/city: is required and missing; .*did you mean "city"\?; since: expected a valid date/);
});

test("what cannot be a tool is refused with all faults", () => {
  const define = () => toolDefinition({ name: "a tool", description: "", inputSchema: { type: "text" }, outputSchema: { requird: [] } });
  expect(define).toThrow(TypeError);
  expect(define).toThrow(
    /^Cannot define the tool "a tool": the name must match .*; inputSchema is no JSON Schema .*; outputSchema .*requird.*; inputSchema must have type "object"/,
  );
});

test.each(["http://json-schema.org/draft-07/schema#", undefined])("a schema of draft %s is taken", ($schema) => {
  const { validateInput } = toolDefinition({ name: "t", description: "", inputSchema: { ...($schema === undefined ? {} : { $schema }), type: "object" } });
  expect([validateInput({}), validateInput(1)]).toEqual([true, false]);
});
