import { createMemoryBus, createToolCaller, defineTool, serveTools } from "rockbot";
import { expect, test } from "vitest";
import { toolDefinition } from "./tool-definition.ts";

const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  additionalProperties: false,
  required: ["city"],
  properties: {
    city: { type: "string" },
    days: { type: "integer", minimum: 1, default: 3 },
    since: { type: "string", format: "date" },
  },
};

test("a tool of a JSON Schema gets its arguments checked, with defaults, and callers are told all faults", async () => {
  await using bus = createMemoryBus();
  const forecast = toolDefinition<{ city: string; days: number }>({
    name: "forecast",
    description: "The weather.",
    inputSchema: schema,
    readOnly: true,
  });
  const tool = defineTool(forecast, async ({ city, days }) => `${days} days of sun in ${city}`);
  await using _ = await serveTools(bus, { tools: [tool] }, { service: "weather" });
  await using agent = await createToolCaller(bus, { agent: "tests" });
  await agent.discovered();

  expect(await agent.call("forecast", { city: "Oslo" })).toMatchObject({ content: "3 days of sun in Oslo" });
  const wrong = agent.call("forecast", { ctiy: "Oslo", since: "yesterday" });
  await expect(wrong).rejects.toMatchObject({ code: "invalid_arguments" });
  await expect(wrong).rejects.toThrow(
    /city: is required and missing; .*did you mean "city"\?; since: expected a valid date/,
  );
});

test("what cannot be a tool is refused with all faults", () => {
  const define = () =>
    toolDefinition({ name: "a tool", description: "", inputSchema: { type: "text" }, outputSchema: { requird: [] } });
  expect(define).toThrow(TypeError);
  expect(define).toThrow(
    /^Cannot define the tool "a tool": the name must match .*; inputSchema is not a usable JSON Schema.*; outputSchema .*requird.*; inputSchema must have type "object"/,
  );
});

test.each(["http://json-schema.org/draft-07/schema#", undefined])("a schema of draft %s is taken", ($schema) => {
  const { validateInput } = toolDefinition({
    name: "t",
    description: "",
    inputSchema: { ...($schema === undefined ? {} : { $schema }), type: "object" },
  });
  expect([validateInput({}), validateInput(1)]).toEqual([true, false]);
});

test("references without an end are a fault of the definition, not of each call", () => {
  const inputSchema = {
    type: "object",
    $ref: "#/$defs/a",
    $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
  };
  const define = () =>
    toolDefinition({ name: "t", description: "", inputSchema, outputSchema: { allOf: [{ $ref: "#" }] } });
  expect(define).toThrow(
    /inputSchema is not a usable JSON Schema.* its references lead back .*; outputSchema is not a usable JSON Schema.* its references lead back/,
  );
});

test("a tool whose schema refers to itself is announced, listed and checked; arguments that would take for ever are refused", async () => {
  await using bus = createMemoryBus();
  const expression = { anyOf: [{ $ref: "#/$defs/not" }, { $ref: "#/$defs/same" }, { type: "number" }] };
  const kind = (name: string) => ({
    type: "object",
    required: ["kind"],
    properties: { kind: { const: name }, of: expression },
  });
  const inputSchema = {
    type: "object",
    properties: { of: expression },
    $defs: { not: kind("not"), same: kind("same") },
  };
  const tool = defineTool(
    toolDefinition({ name: "evaluate", description: "", inputSchema, readOnly: true }),
    async () => "done",
  );
  await using _ = await serveTools(bus, { tools: [tool] }, { service: "logic" });
  await using agent = await createToolCaller(bus, { agent: "tests" });
  await agent.discovered();
  expect(agent.tools.get("evaluate")?.parametersSchema).toBe(JSON.stringify(inputSchema));

  const nested = (levels: number): object => ({
    of: Array.from({ length: levels }).reduce((of: unknown) => ({ kind: "not", of }), 1),
  });
  expect(await agent.call("evaluate", nested(8))).toMatchObject({ content: "done" });
  await expect(agent.call("evaluate", { of: { kind: "nott", of: 1 } })).rejects.toMatchObject({
    code: "invalid_arguments",
  });
  await expect(agent.call("evaluate", nested(60))).rejects.toThrow(/nested too deeply: its schema refers to itself/);
});
