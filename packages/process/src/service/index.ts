// The life of a process.

export { exitOnCrash } from "./exit-on-crash.ts";
export type { Finding } from "./finding.ts";
export { type OnShutdownOptions, onShutdown, type Shutdown } from "./on-shutdown.ts";
export { type SignalListeners, takeSignals } from "./take-signals.ts";

// Its health.

export { aliveAnswer, type HealthAnswer, type Readiness, readyAnswer } from "./health-answer.ts";
export { type HealthServer, type ServeHealthOptions, serveHealth } from "./serve-health.ts";
