export { exitOnCrash } from "./exit-on-crash.ts";
export { type OnShutdownOptions, onShutdown, type Shutdown } from "./on-shutdown.ts";
export { type HealthServer, type Readiness, type ServeHealthOptions, serveHealth } from "./serve-health.ts";
