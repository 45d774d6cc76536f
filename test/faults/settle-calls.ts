import { ToolError } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";

/** How a call ended at its caller: `ok`, the code of its error, or what else it threw. */
export interface SettledCall {
  readonly id: string;
  readonly outcome: string;
  /** What the answer says; the id, if it is the right one. */
  readonly content: string | undefined;
  readonly ms: number;
}

/** Makes a call, and never rejects. */
export async function settleCall(
  caller: ToolCaller,
  tool: string,
  input: { readonly id: string } & Record<string, unknown>,
  options: Parameters<ToolCaller["call"]>[2] = {},
): Promise<SettledCall> {
  const start = performance.now();
  const settled = (outcome: string, content?: string) => ({ id: input.id, outcome, content, ms: performance.now() - start });
  try {
    const { content, isError } = await caller.call(tool, input, options);
    return settled(isError ? "tool_error" : "ok", content ?? undefined);
  } catch (error) {
    return settled(error instanceof ToolError ? error.code : `threw ${String(error)}`);
  }
}

/** How many ended how. */
export function countOutcomes(calls: readonly SettledCall[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of calls) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
