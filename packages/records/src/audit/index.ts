// To write one.

export { AuditFileError } from "./audit-file.ts";
export type {
  AuditLine,
  AuditLog,
  AuditRecord,
  OperatorDeed,
  RefusedRequests,
  SharingDecision,
} from "./audit-record.ts";
export { type OpenAuditLogOptions, openAuditLog } from "./open-audit-log.ts";

// To find calls by arguments that are known.

export { createAuditKey, keyFileOf, readSecret } from "./audit-key.ts";

// To look whether one is whole.

export { type AuditFault, type AuditFileReport, type AuditReport, verifyAudit } from "./verify-audit.ts";

// To read one for operators.

export {
  type AuditFound,
  type AuditPlace,
  type AuditSearch,
  type AuditState,
  type FoundLine,
  MAX_FOUND,
} from "./audit-reader.ts";
