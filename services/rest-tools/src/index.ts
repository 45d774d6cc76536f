// For the CLI: to look at a file, and to try a tool of it.
export { readRestFile } from "./file/read-rest-file.ts";
export { configSchema, type RestToolsConfig } from "./generated/config.ts";
export { type RunningRestTools, type StartRestToolsOptions, startRestTools } from "./rest-tools.ts";
export { type CheckedDocument, checkDocuments, tryRestTool } from "./try-rest-tool.ts";
