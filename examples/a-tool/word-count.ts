import { defineTool } from "rockbot";
import { toolDefinition } from "rockbot/json-schema";

const inputSchema = { type: "object", required: ["text"], properties: { text: { type: "string" } } };
const definition = { name: "word_count", description: "Count the words of a text.", inputSchema, readOnly: true };

/** `word_count`: how many words a text has. */
export const wordCount = defineTool(toolDefinition<{ text: string }>(definition), async ({ text }) => {
  return `${text.split(/\s+/).filter(Boolean).length} words`;
});
