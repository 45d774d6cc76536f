import { unlessAborted } from "@rockbot/base";
import type { Delivery } from "@rockbot/bus";
import { type ToolAgentChatOutput, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";

/** A message that is to be answered. */
export interface TurnQuestion {
  readonly caller: string;
  readonly sessionId: string;
  /** The call's, too: the same message is the same turn, however often it comes. */
  readonly turnId: string;
  readonly message: string;
  /** The definition that answers; the session's, or the plain agent, when left out. */
  readonly agent?: string | undefined;
  /** How many calls, each made by a tool, led to it. @default 0 */
  readonly depth?: number | undefined;
  /** True if untrusted content led to it. @default false */
  readonly hasReadUntrusted?: boolean | undefined;
}

export interface AskOptions {
  readonly timeoutMs: number;
  readonly delivery: Pick<Delivery, "signal" | "isOurs">;
  /** Gets what happens, in words. It may fail. */
  readonly onStep?: ((words: string) => Promise<void>) | undefined;
}

/** What there is to say to the user. */
export interface TurnAnswer {
  readonly text: string;
  /** True if the model has said it, and not RockBot. */
  readonly isAnswer: boolean;
  /** True if the agent needs an answer to this question to go on. */
  readonly asksBack?: boolean | undefined;
  /** Why there is no answer, if its call has failed. */
  readonly error?: ToolError | undefined;
  /** The code of what ended the turn, or its call. */
  readonly code?: string | undefined;
}

/**
 * Has the agent answer messages, by a call of its own tool on behalf of the sender: so claims, policy, limits and the
 * audit see it as any other call.
 */
export class TurnCalls {
  readonly #caller: Pick<ToolCaller, "call">;

  constructor(caller: Pick<ToolCaller, "call">) {
    this.#caller = caller;
  }

  /**
   * A message that comes again meanwhile, as after a lost connection, gets the same answer.
   * @returns undefined if there is no answer and the message is another process's by now, which has the last word
   * @throws only if this process stops, so that the message goes back to the bus
   */
  async ask(question: TurnQuestion, { timeoutMs, delivery, onStep }: AskOptions): Promise<TurnAnswer | undefined> {
    const { signal } = delivery;
    const { caller, sessionId, turnId, message, agent, depth = 0, hasReadUntrusted } = question;
    let steps = Promise.resolve();
    let newest: string | undefined;
    // While one step is told, those after it wait, and only the newest of them is told.
    const onProgress = ({ message: words }: { readonly message?: string | undefined }): void => {
      if (words === undefined || onStep === undefined) return;
      const isQueued = newest !== undefined;
      newest = words;
      if (isQueued) return;
      steps = steps.then(async () => {
        const step = newest;
        newest = undefined;
        if (step !== undefined) await onStep(step).catch(() => {});
      });
    };
    try {
      const input = { message, session_id: sessionId, ...(agent === undefined ? {} : { agent }) };
      // It is bounded by its time alone, as a process that stops leaves it to others.
      const parent =
        depth === 0
          ? undefined
          : { signal: new AbortController().signal, deadline: performance.now() + timeoutMs, depth: depth - 1 };
      const calling = this.#caller.call(tools.agentChat.name, input, {
        toolCallId: turnId,
        onBehalfOf: caller,
        timeoutMs,
        onProgress,
        parent,
        hasReadUntrusted,
      });
      // A process that stops leaves the turn to others: it is not cancelled.
      const { content, structured } = await unlessAborted(calling, signal);
      const { reason, code, report } = (structured ?? {}) as Partial<ToolAgentChatOutput>;
      return {
        text: content?.trim() || reason || "",
        isAnswer: (content ?? "").trim() !== "",
        asksBack: report?.status === "input-required",
        code,
      };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ToolError)) throw error;
      if ((await delivery.isOurs?.()) === false) return undefined;
      const text = error.code === ToolErrorCode.OutcomeUnknown ? MAYBE_TAKEN : `I could not answer: ${error.message}`;
      return { text, isAnswer: false, error, code: error.code };
    } finally {
      await steps; // no update after the answer
    }
  }
}

const MAYBE_TAKEN =
  "Your message may have been taken, and the answer to it is lost. Look at what came of it before you send it again.";
