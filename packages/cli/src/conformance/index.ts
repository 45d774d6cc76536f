// To try a service or a caller of the contract from a test.
export type { CaseResult, ClauseId } from "./case.ts";
export type { ServiceProcess } from "./examiner.ts";
export { runCallerConformance } from "./run-caller-conformance.ts";
export { type ConformanceOptions, runConformance } from "./run-conformance.ts";
export { serviceCommand } from "./service-command.ts";
