import type { ToolDefinition, Validator } from "@rockbot/contracts";
import { defineTool, type ToolSet } from "@rockbot/tools";
import { Ajv } from "ajv";
import type { Payload } from "../payload.ts";

const row = {
  type: "object",
  additionalProperties: false,
  required: ["id", "name", "price", "isSold", "tags"],
  properties: {
    id: { type: "integer" },
    name: { type: "string" },
    price: { type: "number" },
    isSold: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
  },
};
export const inputSchema = {
  type: "object",
  additionalProperties: false,
  properties: { text: { type: "string" }, rows: { type: "array", items: row } },
};

/** A compiled check of `inputSchema`, of the kind that generated tools have. */
export const validateEcho = new Ajv({ allErrors: true }).compile(inputSchema) as Validator<Payload>;

/** The one tool of the bench: gives back what it gets, a text as text, rows as structured content. */
export function echoSet(
  name: string,
  { readOnly, fast = false }: { readonly readOnly: boolean; readonly fast?: boolean },
): ToolSet {
  const definition: ToolDefinition<Payload> = {
    name,
    description: "Gives back what it gets.",
    inputSchema,
    readOnly,
    fast,
    idempotent: false,
    validateInput: validateEcho,
  };
  return {
    tools: [
      defineTool(definition, async ({ text, rows }) =>
        rows === undefined ? (text ?? "") : { content: `${rows.length} rows`, structured: { rows } },
      ),
    ],
    guides: [{ name: "bench", summary: "How the tool of the bench is used.", document: "# Bench\n\nCall it." }],
  };
}
