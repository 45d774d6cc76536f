export { connectPostgresStore } from "./postgres-store.ts";
