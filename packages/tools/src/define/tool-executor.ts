import type { AbortSource } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import type { Envelope, Keep, ResultSize, ToolInvokeRequest, ToolInvokeResponse, Validator } from "@rockbot/contracts";
import type { Decision } from "@rockbot/policy";
import type { CallNotes } from "@rockbot/records/journal";
import type { Approval, Question, Run } from "@rockbot/runs";
import type { CallFiles } from "./call-files.ts";

/** Runs a tool call, wherever the tool is. */
export interface ToolExecutor {
  /** @throws {ToolError} if the call failed; anything else thrown counts as `execution_failed` */
  execute(request: ToolInvokeRequest, context: ToolContext): Promise<ToolInvokeResponse>;
}

/** Adds one concern to an executor. The order of layers stands in layers.ts. */
export type ToolLayer = (next: ToolExecutor) => ToolExecutor;

/** The context that a call needs, and no more. */
export interface ToolContext {
  /** Aborts when the call's answer is of no use any more: deadline over, cancelled, or the process stops. */
  readonly signal: AbortSource;
  /** When the caller stops waiting, on the clock of `performance.now()`. */
  readonly deadline: number;
  /** The agent on whose behalf the call runs. */
  readonly caller: string;
  /** The operator who acts as that agent, if one does. It adds no right. */
  readonly operator?: string | undefined;
  /** Tells the caller that the call is alive. Throttled, in order, may be lost; never moves the deadline. */
  readonly progress: (update: ProgressUpdate) => void;
  readonly log: Logger;
  /** The bus has delivered the request before. @default false */
  readonly isRedelivered?: boolean | undefined;
  /**
   * Set if a service may have taken the request before. It is the earliest possible moment of that, on the clock of
   * `performance.now()`; -Infinity if it is unknown. On the calling side it is when the call was sent first.
   */
  readonly maybeTakenSince?: number | undefined;
  /** An earlier execution of the call may have begun: one of a tool that is resumable looks for it. @default false */
  readonly mayHaveBegun?: boolean | undefined;
  /**
   * Runs `wait` without the call's place among those that run at once here, and takes a place again, of a tool that
   * says that it leaves its own. For a wait for what others do: the call must do nothing itself meanwhile. So many
   * calls are without their place as have a handler and do not run.
   */
  readonly withoutPlace?: (<T>(wait: () => Promise<T>) => Promise<T>) | undefined;
  /**
   * Asks a person, for a tool that says that it asks: see Questions. The call may end here, and run again from its
   * beginning with the answer. @throws what ends it, which the tool lets pass
   */
  readonly ask?: (<Value>(question: AskedOf<Value>) => Promise<Value>) | undefined;
  /**
   * Ends this run of a call, and has it run again from its beginning after a while, for a resumable tool that waits for
   * something. Undefined of a call without a record. @throws what ends it, which the tool lets pass
   */
  readonly later?: HeldCall["later"] | undefined;
  /** False where the service knows no operators, so that nobody would answer: then `ask` fails. */
  readonly canAsk?: boolean | undefined;
  /** Says that the tool has effects from here on, so that it asks nothing more. */
  readonly begins?: (() => void) | undefined;
  /** What an earlier execution has noted: this one goes on from there. */
  readonly handle?: string | undefined;
  /**
   * Notes what another execution goes on from, in any process, such as the id of a server's task. A call that a message
   * brought ends here, and goes on from its record. @returns false if no record takes it: then this execution is the
   * only one, and cannot ask. @throws what ends the call, which the tool lets pass
   */
  readonly noteHandle?: ((handle: string, isClaimed?: boolean) => Promise<boolean>) | undefined;
  /** Called once all layers have let the call through, right before the tool runs. */
  readonly onStarted?: (() => void) | undefined;
  /**
   * Called when the request is about to be handed to the bus, on the calling side: from then on a service may have it.
   */
  readonly onSent?: (() => void) | undefined;
  /** The notes of the call in the caller's journal, on the calling side. */
  readonly notes?: CallNotes | undefined;
  /** What becomes of a call that its caller does not wait for, on the calling side. */
  readonly keep?: Keep | undefined;
  /** True if a person behind the caller answers the questions of the tool, on the calling side. */
  readonly asksCaller?: boolean | undefined;
  /** The capability under which its result may be left in the blob store, on the calling side. */
  readonly acceptBlob?: string | undefined;
  /** The keys of the files that the call names, on the serving side. */
  readonly fileKeys?: string | undefined;
  /** The files that the call names, and those that it leaves; undefined where the service keeps none. */
  readonly files?: CallFiles | undefined;
  /** Called as the call leaves a file: its result holds only as long as its caller keeps that. */
  readonly onFileLeft?: (() => void) | undefined;
  /** How large an answer its caller can have, on the serving side. @default what the bus carries */
  readonly maxResultBytes?: number | undefined;
  /** How far it has come, on the serving side. */
  readonly steps?: ServedCallSteps | undefined;
  /** The message that brought the call, on the serving side; undefined where a record brought it. */
  readonly arrival?: Arrival | undefined;
  /** The record that brought the call, where it has waited for people or runs detached. */
  readonly run?: HeldCall | undefined;
  /** The policy's decision about this call; without one no layer refuses it. */
  readonly decision?: Decision | undefined;
  /** What the tool says of the size of its results, for a layer that makes them fit a model. */
  readonly resultSize?: ResultSize | undefined;
  /** How many calls, each made by a tool, led to this one. @default 0 */
  readonly depth?: number | undefined;
  /**
   * Refuses a call that this one may not lead to, besides what the policy says, on the calling side; that one has it,
   * too.
   * @throws {ToolError}
   */
  readonly checkCall?: ((toolName: string, args: unknown) => void) | undefined;
  /** True if untrusted content led to the call: its caller had read some, or a call that led here. @default false */
  readonly hasReadUntrusted?: boolean | undefined;
  /**
   * What bounds whatever the call leaves behind to run later, besides the policy. Its agent writes it; it is kept with
   * that, and handed on at each run.
   */
  readonly grant?: string | undefined;
  /** Where that was read, for the words of a refusal on the calling side: a URL, or the name of a server. */
  readonly untrustedFrom?: string | undefined;
  /**
   * The parsed arguments, once the validate layer has passed them; and the id of the request, which the tool does not
   * see.
   */
  readonly input?: unknown;
  readonly toolCallId?: string | undefined;
  /** The session that the request names. */
  readonly sessionId?: string | undefined;
}

/** The question of a tool to a person. */
export interface AskedOf<Value> {
  /** Tells the person what the tool wants to know, and why. */
  readonly message: string;
  /** The JSON Schema of the answer. */
  readonly schema: object;
  readonly validate: Validator<Value>;
  /** Whose words they are, if they are not the tool's own. */
  readonly origin?: string | undefined;
  /** Names the question among those of the call. @default its place in their order */
  readonly key?: string | undefined;
}

/** A call's message, and where its answer goes. */
export interface Arrival {
  readonly message: Envelope;
  readonly address: {
    readonly topic: string;
    readonly correlationId: string | undefined;
    readonly blob?: string | undefined;
  };
}

/**
 * A run that this process brings through the layers, from its record instead of a message. It is nobody's until the
 * layer `park` takes it. From then on this process has it, for as long as its lease holds.
 */
export interface HeldCall {
  readonly run: Run;
  readonly isTaken: boolean;
  /**
   * Takes the run, which uses its approval up in the same step.
   * @param isOnce whether its tool must not run a second time
   * @throws {SupersededError} if another process has it
   */
  take(isOnce: boolean): Promise<void>;
  /** Gives back a run that was taken and has not started. @throws {SupersededError} if another process has it */
  giveBack(): Promise<void>;
  /**
   * Asks operators once more, since something that they decided about has changed.
   * @param forMs how long they have
   * @throws {ParkedError} once that is noted
   */
  askAgain(approval: Approval, forMs: number): Promise<never>;
  /**
   * Has the run wait for a person's answer.
   * @throws {ParkedError} once that is noted
   */
  question(question: Question, forMs: number): Promise<never>;
  /**
   * Has the run begin again from the top of its tool after a while, and holds nothing meanwhile.
   * @throws {ParkedError} once that is noted
   */
  later(ms: number): Promise<never>;
  /**
   * Notes that the tool is about to run. One that must run once waits until no crash of the store can undo that.
   * @throws {SupersededError} if another process has the run
   */
  begins(signal: AbortSource): Promise<void>;
  /**
   * Notes what the tool goes on from in any process. @returns false if the store does not answer
   * @throws {SupersededError} if another process has the run
   */
  keep(handle: string): Promise<boolean>;
  /** Notes how far the tool has come, for those who look later. It notes at most one update a second, the newest. */
  note(update: ProgressUpdate): void;
}

/** Receives how far a call has come in a service. */
export interface ServedCallSteps {
  /** A layer has the call now. */
  reached(layer: string): void;
  claimed(): void;
}

/** How far a call has come. */
export interface ProgressUpdate {
  readonly progress?: number | undefined;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}
