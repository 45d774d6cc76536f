import type { ModelUsage } from "@rockbot/llm";

/** The part of a budget that a child has. */
export interface TokenShare {
  readonly tokens: number;
  /** Gives back what is left, once. @param usage what was used, unless it is counted already */
  end(usage?: ModelUsage): void;
}

export interface TurnBudgetOptions {
  readonly maxIterations: number;
  readonly maxTokens: number;
  readonly answerReserveMs: number;
  /** When the turn was begun first, in Unix milliseconds. */
  readonly startedAt: number;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
}

/** What a turn may still use up: answers, tokens and time. */
export class TurnBudget {
  /** Until when tools may run, on the clock of `performance.now()`, so that time is left for an answer. */
  readonly toolsDeadline: number;
  readonly #options: TurnBudgetOptions;
  #usage: ModelUsage = { inputTokens: 0, outputTokens: 0 };
  /** What children have that run. */
  #reserved = 0;

  constructor(options: TurnBudgetOptions) {
    const { deadline, startedAt, answerReserveMs } = options;
    this.#options = options;
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
  }

  /** Tokens that the turn may still use. */
  get tokensLeft(): number {
    const { inputTokens, outputTokens } = this.#usage;
    return Math.max(0, this.#options.maxTokens - inputTokens - outputTokens - this.#reserved);
  }

  /**
   * Takes tokens out of the budget for a child. What it has not used comes back with its end.
   * @param wanted at most these; half of what is left if nobody says
   */
  reserve(wanted?: number | undefined): TokenShare {
    const tokens = Math.min(wanted ?? Math.ceil(this.tokensLeft / 2), this.tokensLeft);
    this.#reserved += tokens;
    let isOver = false;
    return {
      tokens,
      end: (usage) => {
        if (isOver) return;
        isOver = true;
        this.#reserved -= tokens;
        if (usage !== undefined) this.count(usage);
      },
    };
  }

  /** Why no further calls are possible, in words. */
  limit(iteration: number): string | undefined {
    const { maxIterations, maxTokens } = this.#options;
    if (iteration >= maxIterations) return `this turn has had ${iteration} answers of the model, the most it may have`;
    if (performance.now() >= this.toolsDeadline) return "the time of this turn is used up";
    const tokens = this.#usage.inputTokens + this.#usage.outputTokens;
    if (tokens >= maxTokens) return `this turn has used ${tokens} tokens, and may use ${maxTokens}`;
    return undefined;
  }
}
