import type { PolicyHolder, Readers } from "@rockbot/policy";
import type { RateStore } from "@rockbot/records/rates";
import { costText } from "./turn-budget.ts";

/** The bound of what callers spend on models, over all their sessions. */
export interface Spending {
  /** Why a caller may ask no model now, in words; undefined if it may. */
  refusal(caller: string): Promise<string | undefined>;
  /** Counts what an answer has cost. One that costs more than there was has to fill up first. */
  charge(caller: string, cost: number): void;
}

/** Buckets count in millionths: less than that is nothing. */
const PARTS = 1_000_000;

/**
 * Holds callers to the `costPerDay` of the policy. A store of rates that is away refuses nobody: each turn has its own
 * budget.
 */
export function spendingBy(
  policy: PolicyHolder<Readers<"costPerDay">>,
  rates: Pick<RateStore, "take" | "charge">,
): Spending {
  const limitOf = (caller: string) => {
    const limit = policy.current().costOf(caller);
    return limit === undefined ? undefined : { ...limit, amount: limit.amount * PARTS };
  };
  return {
    async refusal(caller) {
      const limit = limitOf(caller);
      const shortage =
        limit === undefined ? undefined : await rates.take([{ ...limit, cost: 1 }]).catch(() => undefined);
      if (limit === undefined || shortage === undefined) return undefined;
      const minutes = Math.ceil(shortage.retryAfterMs / 60_000);
      return `"${caller}" has spent the ${costText(limit.amount / PARTS)} that the policy gives it for a day; it may go on in ${minutes} min`;
    },
    charge(caller, cost) {
      const limit = limitOf(caller);
      if (limit !== undefined && cost > 0)
        void rates.charge({ ...limit, cost: Math.ceil(cost * PARTS) }).catch(() => {});
    },
  };
}
