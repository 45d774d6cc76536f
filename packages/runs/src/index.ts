export {
  type Decision,
  hashOf,
  isApproved,
  isAsked,
  isSignedDecision,
  MAX_NOTE,
  readDecision,
  signDecision,
  waitsFor,
  whyNotBy,
} from "./decision.ts";
export {
  type Answer,
  type Approval,
  AUDIT_MS,
  asksCaller,
  type Binding,
  END_KEPT_MS,
  LEASE_MS,
  MAX_ASKED_BYTES,
  MAX_END_BYTES,
  MAX_HANDLE_CHARS,
  MAX_RUN_BYTES,
  QUESTION_MS,
  type Question,
  READY_MS,
  RUN_MS,
  type Run,
  type RunEnd,
  type RunKey,
  type RunMessage,
  type RunProgress,
  RunState,
  type SignedDecision,
  type Waiter,
} from "./run.ts";
export type { Due, EndedRun, RunStore, StoredRun } from "./run-store.ts";
export { Runs } from "./runs.ts";
export { createMemoryRunStore } from "./store/memory-run-store.ts";
export { openSqliteRunStore } from "./store/open-sqlite-run-store.ts";
export type { SqliteRunStoreOptions } from "./store/sqlite/sqlite-run-store.ts";
export { hearsNow, type RunEvent } from "./transitions.ts";
