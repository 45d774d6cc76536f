import type { HistoryTurn } from "@rockbot/agent";
import type { ConversationTurn } from "@rockbot/contracts";

/** Well below what a message may have. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** What was said, in its form on the wire: the newest turns that fit into a message together, the oldest first. */
export function lastTurns(history: readonly HistoryTurn[]): ConversationTurn[] {
  let characters = 0;
  const first = history.findLastIndex(({ content }) => {
    characters += content.length;
    return characters > MAX_CHARACTERS;
  });
  return history
    .slice(first + 1)
    .map(({ role, content, at }) => ({ role, content, timestamp: new Date(at).toISOString() }));
}
