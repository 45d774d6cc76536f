import {
  type ToolAgentFinalReportInput,
  type ToolAgentTaskStatusInput,
  type ToolRouterHandoffToInput,
  tools,
} from "@rockbot/contracts";
import { reportOf } from "../session-tools/final-report.ts";
import { saysDone } from "../session-tools/task-status.ts";
import type { StoredAnswer, StoredResult } from "../store/turn-store.ts";
import type { FinalReport } from "../words/final-report.ts";
import { notes } from "./notes.ts";

/** A call that succeeded. It is read from what is kept, so that a turn that is taken up does what it did. */
export interface MadeCall {
  readonly name: string;
  readonly input: unknown;
}

/** So many answers in a row that say that all is done end a turn. */
const MAX_DONE = 3;

export const madeCalls = (
  { toolCalls }: StoredAnswer,
  results: readonly (StoredResult | null)[],
): readonly MadeCall[] =>
  toolCalls.flatMap(({ name, arguments: args, refusal }, index) =>
    refusal !== undefined || results[index]?.isError !== false ? [] : [{ name, input: JSON.parse(args) as unknown }],
  );

/** The report that ends the turn. */
export function reportIn(made: readonly MadeCall[]): FinalReport | undefined {
  const call = made.find(({ name }) => name === tools.agentFinalReport.name);
  return call === undefined ? undefined : reportOf(call.input as ToolAgentFinalReportInput);
}

/** Whom the conversation is handed over to. */
export const handOffIn = (made: readonly MadeCall[]): ToolRouterHandoffToInput | undefined =>
  made.find(({ name }) => name === tools.routerHandoffTo.name)?.input as ToolRouterHandoffToInput | undefined;

/**
 * Notices an agent that says again and again that it is done, and does not end. Answers that say nothing of it do not
 * count.
 */
export class DoneStreak {
  #count = 0;

  /** @returns why the turn stops calling, in words, once it is enough */
  add(made: readonly MadeCall[]): string | undefined {
    const statuses = made.filter(({ name }) => name === tools.agentTaskStatus.name);
    if (statuses.length === 0) return undefined;
    this.#count = statuses.every(({ input }) => saysDone(input as ToolAgentTaskStatusInput)) ? this.#count + 1 : 0;
    return this.#count < MAX_DONE ? undefined : notes.done(this.#count);
  }
}
