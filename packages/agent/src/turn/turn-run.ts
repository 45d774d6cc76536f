import { unlessAborted } from "@rockbot/base";
import { BusClosedError, type Logger } from "@rockbot/bus";
import type { TurnFinish } from "@rockbot/contracts";
import type { ToolContext } from "@rockbot/tools";
import { callIdOf } from "../calls/call-id.ts";
import type { CallRunner } from "../calls/call-runner.ts";
import type { TurnTools } from "../calls/turn-tools.ts";
import type { Model, ModelToolCall, ModelUsage } from "../model.ts";
import type { Conversation } from "../prompt/conversation.ts";
import { fence } from "../prompt/fence.ts";
import type { HeldTurn } from "../store/held-turn.ts";
import type { StoredAnswer, StoredResult } from "../store/turn-store.ts";
import { askModel, codeOf } from "./ask-model.ts";
import type { TurnRequest, TurnResult } from "./turn.ts";
import type { TurnEvents } from "./turn-events.ts";
import { TurnLostError } from "./turn-lost-error.ts";

/** What a turn may use up. */
export interface TurnLimits {
  /** Tokens of all its requests to the model together. @default 1_000_000 */
  readonly maxTokens: number;
  /** Time that is kept for the last answer, in milliseconds; a fifth of the turn's time at most. @default 30_000 */
  readonly answerReserveMs: number;
}

export interface TurnRunOptions {
  readonly request: TurnRequest;
  readonly held: HeldTurn;
  readonly model: Model;
  readonly conversation: Conversation;
  readonly tools: TurnTools;
  readonly events: TurnEvents;
  readonly runner: CallRunner;
  readonly limits: TurnLimits;
  /** Aborts when this process stops: the turn is left for another. */
  readonly stopping: AbortSignal;
  readonly mark: UntrustedMark;
  readonly log: Logger;
}

/** Whether a turn has read untrusted content. Once it has, it stays so. */
export interface UntrustedMark {
  isSet: boolean;
}

/** One run of a turn, from its first question to the model, or from what an earlier run has left. */
export class TurnRun {
  readonly #options: TurnRunOptions;
  /** Cancels the turn's calls. A process that stops leaves them: whoever takes the turn up finds them by their ids. */
  readonly #cancel = new AbortController();
  /** Ends this run's waits. */
  readonly #signal: AbortSignal;
  #usage: ModelUsage = { inputTokens: 0, outputTokens: 0 };

  constructor(options: TurnRunOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([this.#cancel.signal, options.held.lost, options.stopping]);
  }

  /** @throws what says that this run is over, though its turn is not: TurnLostError, BusClosedError */
  async run(): Promise<TurnResult> {
    const { request } = this.#options;
    const onAbort = (): void => {
      if (!isStop(request.signal.reason)) this.#cancel.abort(request.signal.reason);
    };
    request.signal.addEventListener("abort", onAbort, { once: true });
    if (request.signal.aborted) onAbort();
    try {
      return await this.#loop();
    } catch (error) {
      if (isStop(error) || this.#options.held.lost.aborted) throw error;
      if (this.#cancel.signal.aborted) return this.#result("", "failed", "The turn was cancelled.");
      return this.#failed(error);
    } finally {
      request.signal.removeEventListener("abort", onAbort);
    }
  }

  async #loop(): Promise<TurnResult> {
    const { conversation } = this.#options;
    for (let iteration = 0; ; iteration++) {
      const answer = await this.#answer(iteration);
      this.#count(answer.usage);
      const { text, toolCalls } = answer;
      if (answer.limit !== undefined) return this.#result(text.trim() || `I have to stop here: ${answer.limit}.`, "limit", answer.limit);
      if (toolCalls.length === 0) return this.#result(text, finishOf(answer));
      const clients = toolCalls.filter(({ name }) => this.#options.request.clientTools?.some((tool) => tool.name === name));
      if (clients.length > 0) return { ...this.#result(text, "tool_calls"), toolCalls: clients };
      conversation.addAnswer(text, toolCalls);
      const results = await this.#runCalls(iteration, toolCalls);
      for (const [index, result] of results.entries()) this.#read(toolCalls[index] as ModelToolCall, result);
    }
  }

  /** The answer that is kept, or a new one. */
  async #answer(iteration: number): Promise<StoredAnswer> {
    const { held, model, conversation, tools, events, request } = this.#options;
    const known = held.answer(iteration);
    if (known !== undefined) return known;
    const limit = this.#limit(iteration);
    if (limit !== undefined) conversation.addNote(`You cannot call tools any more: ${limit}. Answer now with what you have, and say what is missing.`);
    const answer = await askModel({
      model,
      conversation,
      tools: [...(request.clientTools ?? []), ...tools.list.map(({ tool }) => tool)],
      toolChoice: limit === undefined ? "auto" : "none",
      maxOutputTokens: request.maxOutputTokens,
      cacheKey: `${request.caller}/${request.sessionId}`,
      signal: this.#signal,
      deadline: limit === undefined ? this.#toolsDeadline : request.deadline,
      onText: (delta) => events.text(delta),
      notice: (text) => events.emit({ kind: "notice", text }),
    });
    const stored = limit === undefined ? answer : { ...answer, limit };
    await held.addAnswer(stored);
    return stored;
  }

  /** Until when tools may run, so that time is left for an answer. */
  get #toolsDeadline(): number {
    const { request, limits, held } = this.#options;
    const wholeMs = request.deadline - performance.now() + (Date.now() - held.startedAt);
    return request.deadline - Math.min(limits.answerReserveMs, wholeMs / 5);
  }

  /** Why no further calls are possible, in words. */
  #limit(iteration: number): string | undefined {
    const { model, limits } = this.#options;
    const { maxIterations } = model.behavior;
    if (iteration >= maxIterations) return `this turn has had ${maxIterations} answers with calls, the most it may have`;
    if (performance.now() >= this.#toolsDeadline) return "the time of this turn is used up";
    const tokens = this.#usage.inputTokens + this.#usage.outputTokens;
    if (tokens >= limits.maxTokens) return `this turn has used ${tokens} tokens, and may use ${limits.maxTokens}`;
    return undefined;
  }

  async #runCalls(iteration: number, calls: readonly ModelToolCall[]): Promise<readonly StoredResult[]> {
    const { held, runner, request, tools, events, mark } = this.#options;
    const places = runner.places();
    const parent: Pick<ToolContext, "signal" | "deadline" | "depth"> = {
      signal: this.#cancel.signal,
      deadline: this.#toolsDeadline,
      depth: request.parent?.depth,
    };
    const hasReadUntrusted = mark.isSet;
    return Promise.all(
      calls.map(async ({ name, arguments: args }, index) => {
        const callId = callIdOf({ ...request, iteration, index });
        const known = held.result(callId);
        if (known !== undefined) return known;
        using _place = await places.acquire(this.#signal);
        const running = runner.run({ callId, name, arguments: args }, { tools, events, parent, hasReadUntrusted });
        const result = await unlessAborted(running, this.#signal);
        await held.addResult(callId, result);
        return result;
      }),
    );
  }

  /** Gives the model a result; what is untrusted is fenced, and marks the turn. */
  #read(call: ModelToolCall, { content, isError, isUntrusted, origin }: StoredResult): void {
    const { conversation, held, mark } = this.#options;
    if (isUntrusted) mark.isSet = true;
    conversation.addResult(call, isUntrusted ? fence(content, { nonce: held.nonce, origin }) : content, isError);
  }

  #count({ inputTokens, outputTokens, cachedInputTokens }: ModelUsage): void {
    const cached = (this.#usage.cachedInputTokens ?? 0) + (cachedInputTokens ?? 0);
    this.#usage = {
      inputTokens: this.#usage.inputTokens + inputTokens,
      outputTokens: this.#usage.outputTokens + outputTokens,
      ...(cached === 0 ? {} : { cachedInputTokens: cached }),
    };
  }

  #result(text: string, finish: TurnFinish, reason?: string): TurnResult {
    return { text, finish, usage: this.#usage, hasReadUntrusted: this.#options.mark.isSet, ...(reason === undefined ? {} : { reason }) };
  }

  /** The end of a turn whose model, or whose store, is gone: words of our own. */
  #failed(error: unknown): TurnResult {
    const code = codeOf(error) ?? "error";
    this.#options.log.warn({ error: String(error), code }, "a turn failed");
    if (code === "refused") return this.#result("The model declined to answer.", "refused", String(error));
    return this.#result(
      `I could not answer: ${inWords(code)}. Please try again later.`,
      "failed",
      `${code}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Whether a turn is only left here, for another process to take up. */
const isStop = (reason: unknown): boolean => reason instanceof BusClosedError || reason instanceof TurnLostError;

const finishOf = ({ finish }: StoredAnswer): TurnFinish => (finish === "length" || finish === "refused" ? finish : "stop");

function inWords(code: string): string {
  const words: Readonly<Record<string, string>> = {
    context_overflow: "the conversation is too long for the model",
    rate_limited: "the model takes no more requests at the moment",
    unavailable: "the model cannot be reached",
    unauthorized: "the model does not accept the agent's key",
    invalid_request: "the model does not accept the request",
    interrupted: "the model's answer broke off",
    timeout: "the model has not answered in time",
  };
  return words[code] ?? "something went wrong";
}
