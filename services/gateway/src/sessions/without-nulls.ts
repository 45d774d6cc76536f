import type { AgentEvent } from "@rockbot/contracts";

/** Optional fields travel the bus as null. */
export const withoutNulls = (event: AgentEvent): object =>
  Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null));
