import type { Model, ModelUsage } from "@rockbot/llm";
import { usageSum } from "./usage-sum.ts";

export interface TurnBudgetOptions {
  readonly maxIterations: number;
  readonly maxTokens: number;
  /** The bound in the currency of the models' prices. @default unlimited */
  readonly maxCost?: number | undefined;
  readonly answerReserveMs: number;
  /** When the turn was begun first, in Unix milliseconds. */
  readonly startedAt: number;
  /** The deadline on the clock of `performance.now()`. */
  readonly deadline: number;
  /** The part in the budget of the parent's turn, if there is one. */
  readonly share?: BudgetShare | undefined;
}

/** What a question, or a child, may use up. */
export interface BudgetAmount {
  readonly tokens: number;
  readonly cost: number;
}

/**
 * A child's part in the budget of its parent: what the child uses is the parent's to use no more, and all parents' of
 * that.
 */
export interface BudgetShare {
  /** What is left in the whole family. A cost that is not bounded is infinite. */
  left(): BudgetAmount;
  /** Takes an amount out of the budget; a negative one gives some back. */
  hold(amount: BudgetAmount): void;
  /**
   * Counts what the child has used in the place of what it held, once.
   * @param usage nothing if it is counted already
   */
  end(usage?: ModelUsage): void;
}

/** A timer that was set to a moment may go off so much before it. */
const EARLY_MS = 1;

/** What a turn may still use up: answers, tokens, money and time. */
export class TurnBudget {
  /** When the turn has to be over, on the clock of `performance.now()`. */
  readonly deadline: number;
  /** Until when tools may run, on the clock of `performance.now()`, so that time is left for an answer. */
  readonly toolsDeadline: number;
  readonly #options: TurnBudgetOptions;
  #usage: ModelUsage = { inputTokens: 0, outputTokens: 0 };
  /** For questions that are asked now, and by children that run. */
  #held: BudgetAmount = { tokens: 0, cost: 0 };

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

  count(usage: ModelUsage): void {
    this.#usage = usageSum(this.#usage, usage);
    this.#options.share?.hold({ tokens: usage.inputTokens + usage.outputTokens, cost: usage.cost ?? 0 });
  }

  /** What the turn may still use, with what its parents have left. */
  left(): BudgetAmount {
    const { maxTokens, maxCost = Number.POSITIVE_INFINITY, share } = this.#options;
    const ofParents = share?.left() ?? UNLIMITED;
    return {
      tokens: Math.min(maxTokens - this.#used() - this.#held.tokens, ofParents.tokens),
      cost: Math.min(maxCost - (this.#usage.cost ?? 0) - this.#held.cost, ofParents.cost),
    };
  }

  /** Holds what a question may use up until it is answered, so that those beside it do not spend the same. */
  reserve(amount: BudgetAmount): Disposable {
    this.#hold(amount);
    return { [Symbol.dispose]: () => this.#hold(negative(amount)) };
  }

  /** Gives a child its part. */
  share(): BudgetShare {
    let total: BudgetAmount = { tokens: 0, cost: 0 };
    let isOver = false;
    return {
      left: () => this.left(),
      hold: (amount) => {
        if (isOver) return;
        total = plus(total, amount);
        this.#hold(amount);
      },
      end: (usage) => {
        if (isOver) return;
        isOver = true;
        this.#hold(negative(total));
        if (usage !== undefined) this.count(usage);
      },
    };
  }

  /** Why no further calls are possible, in words. */
  limit(iteration: number): string | undefined {
    const { maxIterations, maxTokens, maxCost } = this.#options;
    if (iteration >= maxIterations) return `this turn has had ${iteration} answers of the model, the most it may have`;
    if (performance.now() + EARLY_MS >= this.toolsDeadline) return "the time of this turn is used up";
    if (this.#used() >= maxTokens) return `this turn has used ${this.#used()} tokens, and may use ${maxTokens}`;
    const { cost = 0, unpricedTokens = 0 } = this.#usage;
    if (maxCost !== undefined && cost >= maxCost)
      return `this turn has cost ${costText(cost)}, and may cost ${costText(maxCost)}`;
    const left = this.left();
    if (left.tokens <= 0) return "the tokens of all agents that work on this task are used up";
    if (left.cost <= 0) return "the money for all agents that work on this task is used up";
    if (unpricedTokens > 0 && this.isCostBounded)
      return `the price of ${unpricedTokens} tokens of this turn is unknown, and its cost is bounded`;
    return undefined;
  }

  /** Tells whether the cost of the turn, or of one that has led to it, is bounded. */
  get isCostBounded(): boolean {
    return Number.isFinite(this.left().cost);
  }

  /** Why a model is not asked whose answers have no known cost, in words. */
  priceFault({ id, behavior }: Pick<Model, "id" | "behavior">): string | undefined {
    if (!this.isCostBounded || behavior.price !== undefined) return undefined;
    return `its cost is bounded, and the price of the model "${id}" is unknown. Give the model a price, or the cost no bound`;
  }

  #used(): number {
    return this.#usage.inputTokens + this.#usage.outputTokens;
  }

  #hold(amount: BudgetAmount): void {
    this.#held = plus(this.#held, amount);
    this.#options.share?.hold(amount);
  }
}

const UNLIMITED: BudgetAmount = { tokens: Number.POSITIVE_INFINITY, cost: Number.POSITIVE_INFINITY };

const plus = (a: BudgetAmount, b: BudgetAmount): BudgetAmount => ({
  tokens: a.tokens + b.tokens,
  cost: a.cost + b.cost,
});
const negative = ({ tokens, cost }: BudgetAmount): BudgetAmount => ({ tokens: -tokens, cost: -cost });

/** Money in words: of small sums more digits. */
export const costText = (cost: number): string => String(Number(cost.toPrecision(3)));
