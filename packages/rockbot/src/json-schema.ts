// To define tools by a JSON Schema of their arguments.
export { type ToolPromises, toolDefinition } from "./tool-definition.ts";
