export { createMemoryReplayStore } from "./memory/memory-replay-store.ts";
export type { HeldReplay, OpenReplay, ReplayKey, ReplayLimits, ReplayStore } from "./replay-store.ts";
