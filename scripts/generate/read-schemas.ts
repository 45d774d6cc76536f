import { LineCounter, parseDocument } from "yaml";
import type { JsonSchema, SchemaDocument } from "./schema-document.ts";
import { schemaFaults } from "./schema-faults.ts";

/** The names of tools, as models' APIs take them. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Keywords of a tool that are on or off. */
const SWITCHES = ["x-readOnly", "x-fast", "x-idempotent", "x-dangerous"];

/** What a YAML file says, or its first fault with its line. */
export function readYaml(file: string, text: string): { readonly value?: unknown; readonly faults: readonly string[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  if (document.errors.length === 0) return { value: JSON.parse(JSON.stringify(document.toJS())), faults: [] }; // what an alias names is a definition of its own
  const faults = document.errors.slice(0, 1); // the others follow from it
  return {
    faults: faults.map(
      ({ message, pos }) => `${file}, line ${lines.linePos(pos[0]).line}: this is not YAML: ${message}`,
    ),
  };
}

interface Defined {
  readonly name: string;
  readonly file: string;
  readonly schema: JsonSchema;
}

interface Schemas {
  readonly definitions: SchemaDocument["definitions"];
  readonly faults: readonly string[];
  /**
   * The names of all tools, also of faulty ones; undefined where a file cannot be read, so that more may be defined.
   */
  readonly tools: readonly string[] | undefined;
}

/**
 * The definitions of all files of `packages/contracts/schema` together.
 * @param texts file -> its text
 * @returns the faults of all files, too; where there are any, nothing can be made of the definitions
 */
export function readSchemas(texts: ReadonlyMap<string, string>): Schemas {
  const faults: string[] = [];
  const defined = new Map<string, Defined>();
  for (const [file, text] of texts) {
    const read = readYaml(file, text);
    faults.push(...read.faults);
    if (read.faults.length > 0) continue;
    const { definitions } = (read.value ?? {}) as Partial<SchemaDocument>;
    if (!isObject(definitions)) faults.push(`${file}: expected "definitions:" with a schema below each name`);
    for (const [name, schema] of Object.entries(isObject(definitions) ? definitions : {})) {
      const other = defined.get(name);
      if (other !== undefined) faults.push(`${file}: ${name} is defined a second time: ${other.file} has one, too`);
      else if (isObject(schema)) defined.set(name, { name, file, schema });
      else faults.push(`${file}: ${name}: expected a schema, an object`);
    }
  }
  const isWhole = faults.length === 0; // what a broken file defines is not missing
  const references = [...defined.keys()].map((name) => `#/definitions/${name}`);
  for (const { name, file, schema } of defined.values()) {
    const where = `${file}: ${name}${isTool(schema) && typeof schema.title === "string" ? `, the tool "${schema.title}"` : ""}`;
    const found = schemaFaults(schema, references).filter((fault) => isWhole || !fault.includes("refers to nothing"));
    faults.push(
      ...[...found, ...(isTool(schema) ? toolFaults(name, schema) : [])].map((fault) => `${where}: ${fault}`),
    );
  }
  faults.push(...secondTitles([...defined.values()].filter(({ schema }) => isTool(schema))));
  const titles = [...defined.values()].flatMap(({ schema }) => (isTool(schema) ? String(schema.title) : []));
  return {
    definitions: Object.fromEntries([...defined.values()].map(({ name, schema }) => [name, schema])),
    faults,
    tools: isWhole ? titles : undefined,
  };
}

/** Half a tool is meant as one, too. */
const isTool = (schema: JsonSchema): boolean =>
  schema["x-message"] === undefined &&
  (schema.title !== undefined ||
    schema.properties?.["input"] !== undefined ||
    schema.properties?.["output"] !== undefined);

function toolFaults(name: string, schema: JsonSchema): string[] {
  const { title, description } = schema;
  const faults: string[] = [];
  if (!/^Tool[A-Z]/.test(name))
    faults.push(`a tool's definition is named "Tool" and then the tool in capitals, such as ToolWebBrowse`);
  if (!TOOL_NAME.test(title ?? ""))
    faults.push(
      `title: expected the tool's name, 1 to 64 letters, digits, "_" and "-", got ${JSON.stringify(title) ?? "nothing"}`,
    );
  if (typeof description !== "string" || description.trim() === "")
    faults.push("description: expected what the tool does, in words for a model");
  for (const [part, end] of [
    ["input", "Input"],
    ["output", "Output"],
  ] as const) {
    const expected = `#/definitions/${name}${end}`;
    const found = schema.properties?.[part]?.["$ref"];
    if (found !== expected)
      faults.push(
        `properties.${part}: expected { $ref: "${expected}" }${found === undefined ? "" : `, got "${found}"`}`,
      );
  }
  for (const key of SWITCHES) {
    if (schema[key] !== undefined && typeof schema[key] !== "boolean")
      faults.push(`${key}: expected true or false, got ${JSON.stringify(schema[key])}`);
  }
  const seconds = schema["x-cacheSeconds"] ?? 0;
  if (typeof seconds !== "number" || seconds < 0)
    faults.push(`x-cacheSeconds: expected a number of seconds, got ${JSON.stringify(seconds)}`);
  else if (seconds > 0 && schema["x-readOnly"] !== true)
    faults.push("x-cacheSeconds: it has effects, which a kept result has not: leave this out, or set x-readOnly: true");
  return faults;
}

/** Finds tools with the name of another: nobody could call the first. */
function secondTitles(tools: readonly Defined[]): string[] {
  const first = new Map<unknown, Defined>();
  return tools.flatMap((tool) => {
    const { title } = tool.schema;
    const other = first.get(title);
    if (other === undefined) first.set(title, tool);
    return other === undefined || title === undefined
      ? []
      : [
          `${tool.file}: ${tool.name}: title: the name "${title}" is taken: ${other.name} in ${other.file} has it. Give this tool a name of its own`,
        ];
  });
}

const isObject = (value: unknown): value is Record<string, JsonSchema> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
