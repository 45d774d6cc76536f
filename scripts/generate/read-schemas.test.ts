import { expect, test } from "vitest";
import { readSchemas } from "./read-schemas.ts";

const tool = (name: string, { title, more = "" }: { readonly title: string; readonly more?: string }): string => `
  Tool${name}:
    title: ${title}
    description: Says it again.
    ${more}
    type: object
    required: [input, output]
    properties:
      input: { $ref: "#/definitions/Tool${name}Input" }
      output: { $ref: "#/definitions/Tool${name}Output" }
  Tool${name}Input: { type: object, additionalProperties: false, properties: { text: { type: string } } }
  Tool${name}Output: { type: object }`;

const faultsOf = (...texts: readonly string[]) =>
  readSchemas(new Map(texts.map((text, i) => [`${"ab"[i]}.yaml`, `definitions:${text}`]))).faults;

test("a tool that is well defined has no fault", () => {
  expect(faultsOf(tool("Echo", { title: "echo", more: "x-readOnly: true" }))).toEqual([]);
});

test("two tools of one name, a title that no tool can have and an unknown keyword are found at once", () => {
  const faults = faultsOf(
    tool("Echo", { title: "echo", more: "x-readonly: true" }),
    tool("Again", { title: "echo" }) + tool("Web", { title: "Web Word$" }),
  );

  expect(faults).toEqual([
    'a.yaml: ToolEcho, the tool "echo": x-readonly is no keyword. Did you mean "x-readOnly"?',
    expect.stringMatching(
      /^b\.yaml: ToolWeb, the tool "Web Word\$": title: expected the tool's name, .* got "Web Word\$"$/,
    ),
    'b.yaml: ToolAgain: title: the name "echo" is taken: ToolEcho in a.yaml has it. Give this tool a name of its own',
  ]);
});

test("a type that is none, a wrong reference and a missing input are found at once", () => {
  const echo = tool("Echo", { title: "echo" })
    .replace("type: string", "type: strng")
    .replace('EchoOutput" }', 'EchoOutptu" }');
  const half = "\n  ToolHalf: { title: half, description: Is half. }";

  expect(faultsOf(echo, half)).toEqual([
    'a.yaml: ToolEcho, the tool "echo": properties.output.$ref: "#/definitions/ToolEchoOutptu" refers to nothing. Did you mean "#/definitions/ToolEchoOutput"?',
    expect.stringContaining(
      'a.yaml: ToolEcho, the tool "echo": properties.output: expected { $ref: "#/definitions/ToolEchoOutput" }',
    ),
    expect.stringMatching(/^a\.yaml: ToolEchoInput: properties\.text\.type .* Did you mean "string"\?$/),
    expect.stringContaining(
      'b.yaml: ToolHalf, the tool "half": properties.input: expected { $ref: "#/definitions/ToolHalfInput" }',
    ),
    expect.stringContaining('b.yaml: ToolHalf, the tool "half": properties.output: expected'),
  ]);
});

test("what is not YAML is named by file and line, beside the faults of other files", () => {
  expect(faultsOf(tool("Echo", { title: "e cho" }), "\n  ToolBad: { title: [\n  }")).toEqual([
    expect.stringMatching(/^b\.yaml, line \d+: this is not YAML: /),
    expect.stringContaining('ToolEcho, the tool "e cho": title: expected'),
  ]);
});
