export { configSchema, type KnowledgeToolsConfig } from "./generated/config.ts";
export { openStore, type StartKnowledgeToolsOptions, startKnowledgeTools } from "./knowledge-tools.ts";
