// The audit logs of all services, for operators.

export { AUDIT_PATH, createAuditApp } from "./audit-app.ts";
export { type AuditLogs, createAuditLogs } from "./audit-logs.ts";
