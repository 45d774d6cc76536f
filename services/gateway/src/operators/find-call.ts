import { type CallRecord, searchJournals } from "@rockbot/records/journal";
import type { ToolCaller } from "@rockbot/tools";

/** Ids that begin alike are few, but for those that somebody chose. */
const MAX_SAME = 100;

/** A call of any caller that these journals know, or that is kept where they are kept. */
export async function findCall(
  journals: readonly ToolCaller["journal"][],
  toolCallId: string,
): Promise<CallRecord | null> {
  const known = await Promise.all(journals.map((journal) => journal.find(toolCallId)));
  const found = known.find((call) => call !== undefined);
  if (found !== undefined) return found;
  const { calls } = await searchJournals(journals, { id: toolCallId, limit: MAX_SAME });
  return calls.find((call) => call.toolCallId === toolCallId) ?? null;
}
