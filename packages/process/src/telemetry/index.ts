export type { Log, LogLevel } from "./create-log.ts";
export type { LogFormat } from "./log-format.ts";
export { type StartTelemetryOptions, startTelemetry, type Telemetry } from "./start-telemetry.ts";
