import type { AgentEvent } from "@rockbot/contracts";

/** An event as its turn makes it: the store adds whose it is, and its number. */
export type NewEvent = Omit<AgentEvent, "sequence" | "sessionId" | "turnId">;
