export { type BackoffOptions, backoffMs } from "./backoff.ts";
export { startLoop } from "./start-loop.ts";
export { within } from "./within.ts";
