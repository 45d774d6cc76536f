import { code, fillPage, table } from "../fill-page.ts";
import { inlined, type JsonSchema, type SchemaDocument, toolDefinitions } from "../schema-document.ts";

/** `docs/reference/tools.md`: every tool with its arguments, and a call of it from the shell and by HTTP. */
export function toolsReference(definitions: SchemaDocument["definitions"]): Promise<string> {
  const sections = toolDefinitions(definitions).map(([name, schema]) =>
    section(schema, inlined(definitions[`${name}Input`], definitions)),
  );
  return fillPage("tools", "packages/contracts/schema", { tools: sections.join("\n\n") });
}

function section(schema: JsonSchema, input: JsonSchema): string {
  const rows = Object.entries(input.properties ?? {}).map(([argument, property]) => [
    code(argument),
    `${String(property["type"])}${limits(property)}`,
    input.required?.includes(argument) ? "yes" : "no",
    property.description ?? "",
  ]);
  return [
    `## ${schema.title}`,
    "",
    `${schema.description} ${effects(schema)}`,
    "",
    rows.length > 0 ? table(["argument", "type", "required", "meaning"], rows) : "No arguments.",
    "",
    ...example(schema),
  ].join("\n");
}

function effects(schema: JsonSchema): string {
  const repeat =
    schema["x-readOnly"] === true
      ? "Changes nothing."
      : schema["x-idempotent"] === true
        ? "A repeat has no further effect."
        : "Has effects.";
  const kept = schema["x-cacheSeconds"] === undefined ? "" : ` A result is kept for ${schema["x-cacheSeconds"]} s.`;
  const { threshold, chunkLength } = (schema["x-resultSize"] ?? {}) as {
    readonly threshold?: number;
    readonly chunkLength?: number;
  };
  const size =
    threshold === undefined
      ? ""
      : ` An agent keeps a result of more than ${threshold} characters in chunks of ${chunkLength}.`;
  const danger =
    schema["x-dangerous"] === true ? " Dangerous: allowed only to callers whose policy names it in full." : "";
  const lane = schema["x-fast"] === true ? " Its calls take the fast lane." : "";
  return `${repeat}${lane}${kept}${size}${danger}`;
}

/** A call from the shell and by HTTP, with the arguments of `x-example`, if the schema has them. */
function example({ title, "x-example": args, "x-exampleNeeds": needs }: JsonSchema): readonly string[] {
  if (args === undefined) return [];
  const text = JSON.stringify(args);
  const shown = text === "{}" ? "" : ` ${quoted(text)}`;
  return [
    ...(needs === undefined ? [] : [`<!-- snippet: skip, because it needs ${String(needs)} -->`]),
    "```sh",
    `./rockbot call ${title}${shown}`,
    `curl -s http://127.0.0.1:8480/v1/tools/${title}/invoke -H 'content-type: application/json' -d ${quoted(text)}`,
    "```",
  ];
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function limits(property: JsonSchema): string {
  const parts = [
    ...("minimum" in property ? [`from ${property["minimum"]}`] : []),
    ...("maximum" in property ? [`to ${property["maximum"]}`] : []),
    ...("maxLength" in property ? [`up to ${property["maxLength"]} characters`] : []),
  ];
  return parts.length > 0 ? `, ${parts.join(" ")}` : "";
}
