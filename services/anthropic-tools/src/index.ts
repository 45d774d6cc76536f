// To run the service.

export { startAnthropicTools } from "./anthropic-tools.ts";
export { configSchema } from "./generated/config.ts";
