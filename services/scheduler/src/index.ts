export { configSchema, type SchedulerConfig } from "./generated/config.ts";
export { type RunningScheduler, type StartSchedulerOptions, startScheduler } from "./scheduler.ts";
export type { ScheduleStore } from "./store/schedule-store.ts";
