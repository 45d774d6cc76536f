import type { ToolDefinition, Validator } from "@rockbot/contracts";
import { defineTool, type ToolSet } from "@rockbot/tools";
import { Ajv } from "ajv";

/** What a call says, and its answer. */
export interface Echo {
  readonly text: string;
}

export const inputSchema = { type: "object", additionalProperties: false, required: ["text"], properties: { text: { type: "string" } } };

/** A compiled check of `inputSchema`, of the kind that generated tools have. */
export const validateEcho = new Ajv({ allErrors: true }).compile(inputSchema) as Validator<Echo>;

/** The one tool of the bench: gives back what it gets. */
export function echoSet(name: string, { readOnly }: { readonly readOnly: boolean }): ToolSet {
  const definition: ToolDefinition<Echo> = {
    name,
    description: "Gives back the text.",
    inputSchema,
    readOnly,
    idempotent: false,
    validateInput: validateEcho,
  };
  return {
    tools: [defineTool(definition, async ({ text }) => text)],
    guides: [{ name: "bench", summary: "How the tool of the bench is used.", document: "# Bench\n\nCall it." }],
  };
}
