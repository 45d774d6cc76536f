import type { AgentEvent } from "@rockbot/contracts";

/** The events without texts that a later one of them drops: who has none of them yet needs the last version alone. */
export function lastVersion(events: readonly AgentEvent[]): readonly AgentEvent[] {
  let kept: AgentEvent[] = [];
  for (const event of events) {
    if (event.dropsText) {
      const counts = kept.findLastIndex(({ kind, turnId }) => kind === "tool_started" && turnId === event.turnId);
      kept = kept.filter(({ kind, turnId }, index) => index < counts || kind !== "text" || turnId !== event.turnId);
    }
    kept.push(event);
  }
  return kept;
}
