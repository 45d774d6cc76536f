export { type StartTelemetryOptions, startTelemetry, type Telemetry } from "./start-telemetry.ts";
export type { Log, LogLevel } from "./create-log.ts";
