import type { ModelUsage } from "@rockbot/llm";

export interface TurnBudgetOptions {
  readonly maxIterations: number;
  readonly maxTokens: number;
  readonly answerReserveMs: number;
  /** When the turn was begun first, in Unix milliseconds. */
  readonly startedAt: number;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  /** The part in the budget of the parent's turn, if there is one. */
  readonly share?: TokenShare | undefined;
}

/** A child's part in the budget of its parent: what the child uses is the parent's to use no more, and all parents' of that. */
export interface TokenShare {
  /** Tokens that are left in the whole family. */
  left(): number;
  /** Takes tokens out of the budget; a negative number gives some back. */
  hold(tokens: number): void;
  /** Counts what the child has used in the place of what it held, once. @param usage nothing if it is counted already */
  end(usage?: ModelUsage): void;
}

/** A timer that was set to a moment may go off so much before it. */
const EARLY_MS = 1;

/** What a turn may still use up: answers, tokens and time. */
export class TurnBudget {
  /** When the turn has to be over, on the clock of `performance.now()`. */
  readonly deadline: number;
  /** Until when tools may run, on the clock of `performance.now()`, so that time is left for an answer. */
  readonly toolsDeadline: number;
  readonly #options: TurnBudgetOptions;
  #usage: ModelUsage = { inputTokens: 0, outputTokens: 0 };
  /** For questions that are asked now, and by children that run. */
  #held = 0;

  constructor(options: TurnBudgetOptions) {
    const { deadline, startedAt, answerReserveMs } = options;
    this.#options = options;
    this.deadline = deadline;
    const wholeMs = deadline - performance.now() + Math.max(0, Date.now() - startedAt);
    this.toolsDeadline = deadline - Math.min(answerReserveMs, wholeMs / 5);
  }

  get usage(): ModelUsage {
    return this.#usage;
  }

  count({ inputTokens, outputTokens, cachedInputTokens = 0 }: ModelUsage): void {
    const cached = (this.#usage.cachedInputTokens ?? 0) + cachedInputTokens;
    this.#usage = {
      inputTokens: this.#usage.inputTokens + inputTokens,
      outputTokens: this.#usage.outputTokens + outputTokens,
      ...(cached === 0 ? {} : { cachedInputTokens: cached }),
    };
    this.#options.share?.hold(inputTokens + outputTokens);
  }

  /** Tokens that the turn may still use, with what its parents have left. */
  tokensLeft(): number {
    return Math.min(this.#options.maxTokens - this.#used() - this.#held, this.#options.share?.left() ?? Number.POSITIVE_INFINITY);
  }

  /** Holds what a question may cost until it is answered, so that those beside it do not spend the same. */
  reserve(tokens: number): Disposable {
    this.#hold(tokens);
    return { [Symbol.dispose]: () => this.#hold(-tokens) };
  }

  /** Gives a child its part. */
  share(): TokenShare {
    let total = 0;
    let isOver = false;
    return {
      left: () => this.tokensLeft(),
      hold: (tokens) => {
        if (isOver) return;
        total += tokens;
        this.#hold(tokens);
      },
      end: (usage) => {
        if (isOver) return;
        isOver = true;
        this.#hold(-total);
        if (usage !== undefined) this.count(usage);
      },
    };
  }

  /** Why no further calls are possible, in words. */
  limit(iteration: number): string | undefined {
    const { maxIterations, maxTokens } = this.#options;
    if (iteration >= maxIterations) return `this turn has had ${iteration} answers of the model, the most it may have`;
    if (performance.now() + EARLY_MS >= this.toolsDeadline) return "the time of this turn is used up";
    if (this.#used() >= maxTokens) return `this turn has used ${this.#used()} tokens, and may use ${maxTokens}`;
    if (this.tokensLeft() <= 0) return "the tokens of all agents that work on this task are used up";
    return undefined;
  }

  #used(): number {
    return this.#usage.inputTokens + this.#usage.outputTokens;
  }

  #hold(tokens: number): void {
    this.#held += tokens;
    this.#options.share?.hold(tokens);
  }
}
