import type { RateLimit } from "../decision.ts";
import { defineFacet, limitOf, rateOf } from "./facet.ts";

export const callsPerSecond = defineFacet({
  place: "limits",
  readBy: "decisions",
  schema: { type: "number", exclusiveMinimum: 0, maximum: 100_000, description: "Unlimited when left out." },
  docs: [{ holds: "counted as `rules.rate` is, over all tools", beyond: "`rate_limited` with `retryAfterMs`" }],
  example: 10,
  read(said) {
    const callsPerSecondOf = (caller: string): number | undefined => limitOf(said, "callsPerSecond", caller);
    return {
      callsPerSecondOf,
      callRatesOf(caller: string): readonly RateLimit[] {
        const perSecond = callsPerSecondOf(caller);
        if (perSecond === undefined) return [];
        const amount = Math.max(1, perSecond);
        return [rateOf(caller, undefined, amount, (amount / perSecond) * 1_000)];
      },
    };
  },
  explain({ callsPerSecondOf }, { caller }) {
    const perSecond = callsPerSecondOf(caller);
    return perSecond === undefined ? [] : [`at most ${perSecond} calls a second of all tools`];
  },
});
