export { type RunningA2a, type StartA2aOptions, startA2a } from "./a2a.ts";
export type { A2AConfig } from "./generated/config.ts";
