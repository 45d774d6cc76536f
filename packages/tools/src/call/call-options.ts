import type { Keep } from "@rockbot/contracts";
import type { ProgressUpdate, ToolContext } from "../define/tool-executor.ts";

/** Settings of one call. */
// Many because: callers know them by these names, and all have a default.
export interface CallOptions {
  /**
   * Identifies the call: the same id is the same call. While it is out, the same request of the same caller gets its
   * answer, and another request is refused. @default 32 random hex digits
   */
  readonly toolCallId?: string | undefined;
  /** True if the id was minted for this call, so that nobody had a call of it before. @default false if there is an id */
  readonly isNew?: boolean | undefined;
  /**
   * How long ago this very call was sent first, in milliseconds, by somebody who had no answer to it. A service that
   * may have forgotten it since ends it in `outcome_unknown`, and does not run it. @default what this caller's journal
   * knows of a call with this id
   */
  readonly firstSentMsAgo?: number | undefined;
  /** The timeout, from 1 ms to 20 minutes. @default 60_000, or what is left of the parent's time */
  readonly timeoutMs?: number | undefined;
  /**
   * The call of a tool that makes this one. Its deadline and its cancellation hold for this call too, and it counts as
   * one that led here, in the journal too. If it has read untrusted content, so has this one, whatever `hasReadUntrusted` says. A call that
   * its `checkCall` refuses is not made.
   */
  readonly parent?:
    | Pick<
        ToolContext,
        | "signal"
        | "deadline"
        | "depth"
        | "hasReadUntrusted"
        | "untrustedFrom"
        | "checkCall"
        | "grant"
        | "operator"
        | "toolCallId"
      >
    | undefined;
  /**
   * True if untrusted content led to this call: the model that asks for it has read some. The policy may then deny
   * tools with effects.
   * @default false
   */
  readonly hasReadUntrusted?: boolean | undefined;
  /** Where that was read, for the words of a refusal: a URL, or the name of a server. */
  readonly untrustedFrom?: string | undefined;
  /** What bounds the run that is asked for, as it was kept. @default that of the parent */
  readonly grant?: string | undefined;
  /** The effective caller, if that is not the agent itself. Services believe it of delegates only. */
  readonly onBehalfOf?: string | undefined;
  /**
   * The operator who makes the call as its caller, for the journal and the audit log. Services believe it of delegates
   * only. @default that of the parent
   */
  readonly operator?: string | undefined;
  /**
   * Makes the call only once the journal in `journals` has it, so that no call is out of which the next process does
   * not know. With `true` a call that cannot be noted there is refused as `unavailable`. @default waits for the note of
   * a tool that may not run twice, and makes the call also where it cannot be written
   */
  readonly durable?: boolean | undefined;
  /**
   * True if the next process of this caller sends the call again when it has no answer. Not of use if nobody comes back
   * for that, nor where a tool makes the call: its own call may be over by then, and else makes this one again.
   * @default unless there is a parent
   */
  readonly isSentAgain?: boolean | undefined;
  /**
   * What becomes of a call that waits for people, or is detached: see Keep. Then it may end in `pending`, and the same
   * id and arguments get its end. @default a call ends with its caller's wait
   */
  readonly keep?: Keep | undefined;
  /** True if a person behind the caller answers the tool's questions: each ends the call in `pending`, and it waits on. */
  readonly asksCaller?: boolean | undefined;
  /** Keeps the answer for 15 minutes, for `getAnswer`. @default false */
  readonly keepAnswer?: boolean | undefined;
  /** Aborting cancels the call, wherever it is. */
  readonly signal?: AbortSignal | undefined;
  /** The working-memory namespace the call belongs to. */
  readonly sessionId?: string | undefined;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /**
   * Called when the call is about to be handed to the bus. One that fails before was refused here, and no service knows
   * of it.
   */
  readonly onSent?: (() => void) | undefined;
}
