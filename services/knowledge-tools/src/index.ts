export { configSchema, type KnowledgeToolsConfig } from "./generated/config.ts";
export type { KnowledgeItem } from "./item/knowledge-item.ts";
export { openStore, type StartKnowledgeToolsOptions, startKnowledgeTools } from "./knowledge-tools.ts";
export { type KnowledgeStore, OtherOwnerError } from "./store/knowledge-store.ts";
export { ImportError, readItems } from "./transfer/read-items.ts";
export { itemLine } from "./transfer/write-items.ts";
