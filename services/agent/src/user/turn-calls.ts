import { unlessAborted } from "@rockbot/base";
import type { Delivery } from "@rockbot/bus";
import { type ToolAgentChatOutput, ToolError, tools } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";

/** A message that is to be answered. */
export interface TurnQuestion {
  readonly caller: string;
  readonly sessionId: string;
  /** The call's, too: the same message is the same turn, however often it comes. */
  readonly turnId: string;
  readonly message: string;
}

export interface AskOptions {
  readonly timeoutMs: number;
  readonly delivery: Pick<Delivery, "signal">;
  /** Gets what happens, in words. It may fail. */
  readonly onStep?: ((words: string) => Promise<void>) | undefined;
}

/** What there is to say to the user. */
export interface TurnAnswer {
  readonly text: string;
  /** Whether the model has said it, and not we. */
  readonly isAnswer: boolean;
}

/** Has the agent answer messages, by a call of its own tool on behalf of the sender: so claims, policy, limits and the audit see it as any other call. */
export class TurnCalls {
  readonly #caller: Pick<ToolCaller, "call">;

  constructor(caller: Pick<ToolCaller, "call">) {
    this.#caller = caller;
  }

  /** A message that comes again meanwhile, as after a lost connection, gets the same answer. @throws only if this process stops, so that the message goes back to the bus */
  async ask({ caller, sessionId, turnId, message }: TurnQuestion, { timeoutMs, delivery: { signal }, onStep }: AskOptions): Promise<TurnAnswer> {
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
      const input = { message, session_id: sessionId };
      const calling = this.#caller.call(tools.agentChat.name, input, { toolCallId: turnId, onBehalfOf: caller, timeoutMs, onProgress });
      // A process that stops leaves the turn to others: it is not cancelled.
      const { content, structured } = await unlessAborted(calling, signal);
      const { reason } = (structured ?? {}) as Partial<ToolAgentChatOutput>;
      return { text: content?.trim() || reason || "", isAnswer: (content ?? "").trim() !== "" };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ToolError)) throw error;
      return { text: `I could not answer: ${error.message}`, isAnswer: false };
    } finally {
      await steps; // no update after the answer
    }
  }
}
