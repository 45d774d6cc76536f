import { type CallRecord, ownerOf, readKept, searchJournals, startOf } from "@rockbot/records/journal";
import type { ToolCaller } from "@rockbot/tools";
import type { OperatorBindings } from "../operator.ts";
import { wholeArguments } from "../operator-kept.ts";

/** A call that was made, with what a policy looks at. */
export interface PastCall {
  readonly toolCallId: string;
  /** The effective caller. */
  readonly caller: string;
  readonly tool: string;
  /** When it was made, in Unix milliseconds. */
  readonly at: number;
  readonly isDangerous?: boolean | undefined;
  readonly isReadOnly?: boolean | undefined;
  readonly hasReadUntrusted: boolean;
  /** JSON. It is undefined if they were not kept whole, or if the operator may not see them. */
  readonly arguments?: string | undefined;
}

export interface PastCallsParts extends Pick<ToolCaller, "knownTools"> {
  /** The journals of all callers in this process, and of those whose calls are in the same Redis. */
  readonly journals: () => readonly ToolCaller["journal"][];
}

const MAX_PAST_CALLS = 5_000;
/** Arguments are looked for of so many calls, the newest, and of so many at once. */
const MAX_WITH_ARGUMENTS = 1_000;
const AT_ONCE = 50;

/**
 * The newest calls. Only an operator who may see arguments gets any of these, and one line in the audit log says
 * so.
 */
export async function pastCalls(
  { journals, knownTools }: PastCallsParts,
  { operator, see }: Pick<OperatorBindings, "operator" | "see">,
): Promise<PastCall[]> {
  const { calls } = await searchJournals(journals(), { limit: MAX_PAST_CALLS });
  const texts = operator.sees.has("arguments") ? await argumentsOf(calls.slice(0, MAX_WITH_ARGUMENTS), journals()) : [];
  const count = texts.filter((text) => text !== undefined).length;
  const isSeen = count > 0 && (await see("arguments", `${count} calls, the newest ${calls[0]?.toolCallId}`));
  const known = new Map(knownTools().map((tool) => [tool.name, tool]));
  return calls.map((record, index) => {
    const { dangerous, readOnly } = known.get(record.toolName) ?? {};
    return {
      toolCallId: record.toolCallId,
      caller: ownerOf(record),
      tool: record.toolName,
      at: startOf(record),
      isDangerous: dangerous,
      isReadOnly: readOnly,
      hasReadUntrusted: record.hasReadUntrusted === true,
      arguments: isSeen ? texts[index] : undefined,
    };
  });
}

async function argumentsOf(
  calls: readonly CallRecord[],
  journals: readonly ToolCaller["journal"][],
): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  while (found.length < calls.length) {
    const chunk = calls.slice(found.length, found.length + AT_ONCE);
    const kept = await Promise.all(chunk.map((call) => readKept(journals, call)));
    found.push(...kept.map(wholeArguments));
  }
  return found;
}
