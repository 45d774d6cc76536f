import { ToolError, ToolErrorCode, type ToolInvokeResponse } from "@rockbot/contracts";
import type { Model } from "@rockbot/llm";
import { pricedUsage } from "@rockbot/llm/priced-usage";
import type { Spending } from "../budget/spending.ts";
import type { TurnBudget } from "../budget/turn-budget.ts";
import { askOnce } from "../prompt/ask-model.ts";
import { tokensOf } from "../prompt/conversation.ts";
import { fence } from "../prompt/fence.ts";
import { UNTRUSTED_RULE } from "../prompt/system-text.ts";
import type { HeldTurn } from "../store/held-turn.ts";
import type { TurnEvents } from "../store/turn-events.ts";
import type { StoredResult } from "../store/turn-store.ts";
import type { CallRunner } from "./call-runner.ts";
import type { SessionRights } from "./session-rights.ts";
import { storedError, storedValue } from "./stored-result.ts";
import { CHILD_SOURCE, type ParentCall, type TurnCall, type TurnTool, type TurnTools } from "./turn-tools.ts";

export interface InnerCallsOptions {
  /** What the turn is now: its tools and its model. */
  readonly role: () => { readonly tools: TurnTools; readonly model: Model };
  readonly runner: CallRunner;
  readonly events: TurnEvents;
  readonly held: HeldTurn;
  readonly budget: TurnBudget;
  /** Which of the turn's tools there are. @default all */
  readonly within?: { readonly rights: SessionRights; readonly hasAgents: boolean } | undefined;
  readonly caller: string;
  readonly spending: Spending | undefined;
}

/** A question to the turn's model, beside its conversation. */
interface InnerQuestion {
  /** The same question has the same id whenever the turn is taken up. */
  readonly id: string;
  readonly parts: readonly PromptPart[];
  /** @default the turn's */
  readonly model?: Model | undefined;
  readonly maxOutputTokens?: number | undefined;
}

/** A text of a question. One of strangers is fenced. */
export interface PromptPart {
  readonly text: string;
  readonly isUntrusted: boolean;
  readonly origin?: string | undefined;
}

/** The place of a model's words that stand in for a tool's. */
const RULE = `You do one step of a pipeline. Answer with the result alone: no greeting, no question, no word about the step. Nobody reads your answer before the next step does.

${UNTRUSTED_RULE}`;

/** Further calls of a turn, and questions to its model, that a tool makes within its call. All count as the turn's. */
export class InnerCalls {
  readonly #options: InnerCallsOptions;

  constructor(options: InnerCallsOptions) {
    this.#options = options;
  }

  /** The tools that it can call. */
  get tools(): readonly TurnTool[] {
    const { role, within } = this.#options;
    const { tools } = role();
    if (within === undefined) return tools.all;
    return tools.all.filter(({ tool }) => this.refusal(tool.name) === undefined);
  }

  /** Why it cannot call a tool that the caller may use, in words; undefined of every other name. */
  readonly refusal = (name: string): string | undefined => {
    const { role, within } = this.#options;
    const { tools } = role();
    const found = tools.get(name);
    if (found === undefined || within === undefined) return tools.refusal(name);
    if (!within.hasAgents && found.source === CHILD_SOURCE) return "a wisp of another caller calls no agents";
    return within.rights.refusal(tools.judged(name));
  };

  /** The same with fewer rights. @param hasAgents whether it can call agents, whose sessions have those of the turn */
  narrowed(rights: SessionRights, { hasAgents }: { readonly hasAgents: boolean }): InnerCalls {
    return new InnerCalls({ ...this.#options, within: { rights, hasAgents } });
  }

  /**
   * Makes a call as the turn makes those of its model, except that a large result comes whole.
   * @param call its id must be derived from the parent call's id
   * @param parent the context of that call
   * @throws {ToolError} as CallRunner.respond
   */
  async call(call: TurnCall, parent: ParentCall): Promise<ToolInvokeResponse> {
    const { role, runner, events, within } = this.#options;
    const { tools } = role();
    const turn = { tools, events, parent };
    if (within === undefined) return runner.respond(call, turn, { isForModel: false });
    const checkCall = (name: string, args: unknown): void => {
      parent.checkCall?.(name, args);
      within.rights.check(tools.judged(name), args);
    };
    checkCall(call.name, JSON.parse(call.arguments));
    return runner.respond(
      call,
      { ...turn, parent: { ...parent, checkCall, grant: within.rights.grant(parent.grant) } },
      { isForModel: false },
    );
  }

  /**
   * Makes a call as `call` does, and keeps its result before anything follows from it: a turn that is taken up does not
   * make it again. A failure is a result.
   * @throws what says that this process is to stop, or that the turn or the call is over
   */
  async callKept(call: TurnCall, parent: ParentCall): Promise<StoredResult> {
    const { held } = this.#options;
    const known = held.result(call.callId);
    if (known !== undefined) return known;
    let result: StoredResult;
    try {
      result = storedValue(await this.call(call, parent));
    } catch (error) {
      if (!(error instanceof ToolError) || parent.signal.aborted) throw error;
      result = storedError(error);
    }
    await held.keepResult(call.callId, result);
    return result;
  }

  /**
   * Asks the turn's model. The answer is kept before anything follows from it, and the question is not asked again.
   * @throws {ToolError} if the turn may use no more tokens, or the model has no answer
   */
  async ask(
    { id, parts, model = this.#options.role().model, maxOutputTokens }: InnerQuestion,
    { signal, deadline }: Pick<ParentCall, "deadline"> & { readonly signal: AbortSignal },
  ): Promise<string> {
    const { held, budget, spending, caller } = this.#options;
    const known = held.result(id);
    if (known !== undefined) return known.content;
    const refusal = await spending?.refusal(caller);
    const limit = budget.limit(0) ?? refusal ?? budget.priceFault(model);
    if (limit !== undefined) throw new ToolError(ToolErrorCode.Denied, `The model was not asked: ${limit}.`);
    const content = parts
      .map(({ text, isUntrusted, origin }) => (isUntrusted ? fence(text, { nonce: held.nonce, origin }) : text))
      .join("");
    const tokens = tokensOf(RULE) + tokensOf(content);
    using _reserved = budget.reserve({
      tokens,
      cost: pricedUsage({ inputTokens: tokens, outputTokens: 0 }, model.behavior.price).cost ?? 0,
    });
    const answer = await askOnce(model, {
      messages: [
        { role: "system", content: RULE },
        { role: "user", content },
      ],
      maxOutputTokens,
      signal,
      deadline,
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new ToolError(
        ToolErrorCode.Unavailable,
        `The model gave no answer: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      );
    });
    budget.count(answer.usage);
    spending?.charge(caller, answer.usage.cost ?? 0);
    if (answer.finish === "refused" || answer.text.trim() === "")
      throw new ToolError(
        ToolErrorCode.ExecutionFailed,
        answer.finish === "refused" ? "The model declined to answer." : "The model answered nothing.",
      );
    await held.keepResult(id, {
      content: answer.text,
      isError: false,
      isUntrusted: parts.some(({ isUntrusted }) => isUntrusted),
      usage: answer.usage,
    });
    return answer.text;
  }
}
