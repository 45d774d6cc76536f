import type { AgentEvent, ChatMessage, ToolOutput, TurnFinish } from "@rockbot/contracts";
import type { AnswerForm, Model, ModelTool, ModelToolCall, ModelUsage } from "@rockbot/llm";
import type { CallOptions, ToolContext } from "@rockbot/tools";
import type { AgentDefinition } from "./agent-definition.ts";
import type { FamilySession } from "./family-session.ts";
import type { FinalReport } from "./final-report.ts";

/** Which turn it is: the same caller, session and turn id are the same turn. */
export interface TurnPlace {
  /** The effective caller, as verified. */
  readonly caller: string;
  readonly sessionId: string;
  readonly turnId: string;
}

/**
 * One turn of a conversation: a message, until its answer. The same caller, session and turn id are the same turn,
 * however often it is asked for.
 */
export interface TurnRequest extends TurnPlace {
  /** The session that this one stems from, through all parents. @default itself */
  readonly rootSessionId?: string | undefined;
  /** What the session is. @default what it was switched to, or the plain agent */
  readonly definition?: AgentDefinition | undefined;
  /** What the user says. Either this or `messages`. */
  readonly message?: string | undefined;
  /** A whole history, which ends with what is asked: then the session's own is not read. */
  readonly messages?: readonly ChatMessage[] | undefined;
  /** Images of `message`, as data URLs: they are the caller's words, as the text is. */
  readonly images?: readonly string[] | undefined;
  /** Tools of the client: calls of them are returned, not run. */
  readonly clientTools?: readonly ModelTool[] | undefined;
  /** The turn ends with a call of one of them. @default false */
  readonly mustCall?: boolean | undefined;
  /** At most one call of them is returned. @default false */
  readonly oneCall?: boolean | undefined;
  /** The answer that ends the turn is JSON. */
  readonly form?: AnswerForm | undefined;
  /** Each answer ends before the first of these texts. */
  readonly stop?: readonly string[] | undefined;
  /** @default the agent's */
  readonly model?: Model | undefined;
  /**
   * Who speaks: a user, a task that is due, or a helper: its parent tells it its task, and it tells its parent the
   * result.
   * @default "user"
   */
  readonly origin?: "user" | "schedule" | "helper" | undefined;
  /** True if anything that led to this turn has read untrusted content. @default false */
  readonly hasReadUntrusted?: boolean | undefined;
  /** The call that the turn is about, which had waited for a person. It has ended: the model reads its result first. */
  readonly ended?: ModelToolCall | undefined;
  /**
   * Aborting ends the turn and cancels its calls. With a ToolError of the code `cancelled` as its reason the turn is
   * over; with another it can be taken up.
   */
  readonly signal: AbortSignal;
  /** When nobody waits any more, on the clock of `performance.now()`. */
  readonly deadline: number;
  /** The call that the turn is, for the policy's count of calls that led to calls. */
  readonly parent?: CallOptions["parent"] | undefined;
  readonly maxOutputTokens?: number | undefined;
  /** Runs a wait without the place that the turn has among those that run at once. */
  readonly withoutPlace?: ToolContext["withoutPlace"];
  /** Called with each step, in order. Must not throw. */
  onEvent?(event: AgentEvent): void;
}

/** A call whose result was too large for the model. */
export interface LargeResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly toolOutput: ToolOutput;
}

/** The one result of a turn. */
export interface TurnResult {
  readonly text: string;
  readonly finish: TurnFinish;
  /** With finish `tool_calls`: the calls of the client's tools. */
  readonly toolCalls?: readonly ModelToolCall[] | undefined;
  /** The report of a turn that ended by one; `text` is its content. */
  readonly report?: FinalReport | undefined;
  /** It includes the usage of the agents that it has called. */
  readonly usage: ModelUsage;
  readonly hasReadUntrusted: boolean;
  /** Results of tools were shortened or left out, as the conversation was too long for the model. @default false */
  readonly toolBudgetExceeded?: boolean | undefined;
  /** Results that were too large for the model: the newest 100. @default none */
  readonly largeResults?: readonly LargeResult[] | undefined;
  /** The work of a turn that another one has called, and of the agents that it has called. */
  readonly family?: FamilySession | undefined;
  /** Why it ended so, in words, unless it simply ended. */
  readonly reason?: string | undefined;
  /** The code of its ModelError, if the model failed; `store` if the store of conversations was away. */
  readonly code?: string | undefined;
}
