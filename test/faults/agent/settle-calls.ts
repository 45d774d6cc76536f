import { AwakeClock } from "@rockbot/base";
import { ToolError } from "@rockbot/contracts";
import { DEFAULT_TIMEOUT_MS, type ToolCaller } from "@rockbot/tools";
import { GRACE_MS, LOST_AFTER_MS } from "../effects/ledger.ts";

/** How a call ended at its caller: `ok`, the code of its error, `lost`, or what else it threw. */
export interface SettledCall {
  readonly id: string;
  readonly outcome: string;
  /** What the answer says; the id, if it is the right one. */
  readonly content: string | undefined;
  /** What its error says. */
  readonly reason?: string | undefined;
  readonly ms: number;
  /**
   * It had not ended when its deadline and the grace were over; time that the caller's own process stood still does not
   * count.
   */
  readonly isLate: boolean;
}

/** One timer for all calls: what is measured is the memory that calls take, not timers of the test. */
const clock = new AwakeClock();

/** Makes a call, and never rejects; one that does not end is `lost`. */
export async function settleCall(
  caller: ToolCaller,
  tool: string,
  input: { readonly id: string } & Record<string, unknown>,
  options: Parameters<ToolCaller["call"]>[2] = {},
): Promise<SettledCall> {
  const start = performance.now();
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  let isLate = false;
  const { promise: lost, resolve: lose } = Promise.withResolvers<"lost">();
  const callOffs = [
    clock.after(timeoutMs + GRACE_MS, () => {
      isLate = true;
    }),
    clock.after(timeoutMs + LOST_AFTER_MS, () => lose("lost")),
  ];
  const settled = (outcome: string, content?: string, reason?: string) => ({
    id: input.id,
    outcome,
    content,
    reason,
    ms: performance.now() - start,
    isLate,
  });
  try {
    const answer = await Promise.race([caller.call(tool, input, options), lost]);
    if (answer === "lost") return settled("lost");
    return settled(answer.isError ? "tool_error" : "ok", answer.content ?? undefined);
  } catch (error) {
    return error instanceof ToolError
      ? settled(error.code, undefined, error.message)
      : settled(`threw ${String(error)}`);
  } finally {
    for (const callOff of callOffs) callOff();
  }
}

/** How many ended how. */
export function countOutcomes(calls: readonly SettledCall[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of calls) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** How many ended how, and what may never be; `effects` says how often each had its effect. */
export function tally(calls: readonly SettledCall[], effects: ReadonlyMap<string, number>): Record<string, number> {
  return {
    lost: 0,
    ...countOutcomes(calls),
    "doubled effects": calls.filter(({ id }) => (effects.get(id) ?? 0) > 1).length,
    crossed: calls.filter(({ id, outcome, content }) => outcome === "ok" && content !== id).length,
    late: calls.filter(({ isLate }) => isLate).length,
  };
}

/** What `tally` gives of calls that ended as these, and none of which was harmed. */
export const unharmed = (outcomes: Readonly<Record<string, number>>): Record<string, number> => ({
  lost: 0,
  ...outcomes,
  "doubled effects": 0,
  crossed: 0,
  late: 0,
});
