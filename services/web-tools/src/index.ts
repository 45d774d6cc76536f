// To run the service.

export { configSchema, type WebToolsConfig } from "./generated/config.ts";
export { startWebTools } from "./web-tools.ts";

// To look at its tools without a bus, and at what a configuration leaves out.

export { webToolSet, webToolsOff } from "./web-tool-set.ts";
