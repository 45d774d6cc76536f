export { connectPostgresDefinitionStore } from "./postgres-definition-store.ts";
