export { exitOnCrash } from "./exit-on-crash.ts";
export { aliveAnswer, type HealthAnswer, type Readiness, readyAnswer } from "./health-answer.ts";
export { type OnShutdownOptions, onShutdown, type Shutdown } from "./on-shutdown.ts";
export { type HealthServer, type ServeHealthOptions, serveHealth } from "./serve-health.ts";
export { type SignalListeners, takeSignals } from "./take-signals.ts";
