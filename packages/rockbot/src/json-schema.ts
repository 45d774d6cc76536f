// To define tools by a JSON Schema of their arguments.
export { type ToolPromises, toolDefinition } from "./tool-definition.ts";

// Tools of a provider with a namespace.

export {
  type NamespacedCall,
  type NamespacedProvider,
  type NamespacedResult,
  type NamespacedTool,
  namespacedTools,
} from "./namespaced-provider.ts";
