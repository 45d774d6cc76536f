export { connectPostgresAgentRecords } from "./postgres-agent-records.ts";
