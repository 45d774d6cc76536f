// To try a service or a caller of the contract.

export type { CalleeOptions } from "./callee.ts";
export type { CaseResult, ClauseId } from "./case.ts";
export { clauseText } from "./clause-text.ts";
export type { SafeCall, ServiceProcess } from "./examiner.ts";
export { runCallerConformance } from "./run-caller-conformance.ts";
export { type ConformanceOptions, runConformance } from "./run-conformance.ts";
export { serviceCommand } from "./service-command.ts";
