// To end in order.
export { onShutdown, type OnShutdownOptions, type Shutdown } from "./on-shutdown.ts";
export { exitOnCrash } from "./exit-on-crash.ts";

// To be watched.
export { type HealthServer, type Readiness, serveHealth, type ServeHealthOptions } from "./serve-health.ts";
