export type { Log, LogLevel } from "./log/create-log.ts";
export { logConsole } from "./log/log-console.ts";
export type { LogFormat } from "./log/log-format.ts";
export { type StartTelemetryOptions, startTelemetry, type Telemetry } from "./start-telemetry.ts";
