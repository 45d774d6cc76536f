import { amountOf, DAY_MS, defineFacet } from "./facet.ts";

export const costPerDay = defineFacet({
  place: "limits",
  readBy: "services",
  schema: {
    type: "number",
    exclusiveMinimum: 0,
    maximum: 1_000_000_000,
    description:
      "What the caller's turns of the agent may cost, in the currency of the models' prices. Unlimited when left out.",
  },
  docs: [
    {
      holds:
        "what models cost in all turns of the caller, in the currency of their prices; a dear turn may leave a debt, which fills up first",
      beyond: "a turn ends with `rate_limited`, and says when the caller may go on",
    },
  ],
  example: 5,
  read: (said) => ({
    /** What the turns of this caller may cost, over all its sessions; undefined if there is no limit. */
    costOf: amountOf(said, "costPerDay", "cost", DAY_MS),
  }),
  explain({ costOf }, { caller }) {
    const cost = costOf(caller);
    return cost === undefined ? [] : [`turns of the agent may cost ${cost.amount} a day`];
  },
});
