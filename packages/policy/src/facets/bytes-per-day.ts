import { amountOf, DAY_MS, defineFacet } from "./facet.ts";

export const bytesPerDay = defineFacet({
  place: "limits",
  readBy: "decisions",
  schema: {
    type: "number",
    minimum: 1000,
    maximum: 1_000_000_000_000_000,
    description: "Arguments and results together. Unlimited when left out.",
  },
  docs: [
    {
      holds:
        "counted as rates are: arguments, and results once they are there; a large result may leave a debt, which fills up first",
      beyond: "`rate_limited` with `retryAfterMs`",
    },
  ],
  example: 1_000_000_000,
  read: (said) => ({ bytesOf: amountOf(said, "bytesPerDay", "bytes", DAY_MS) }),
  explain({ bytesOf }, { caller }) {
    const bytes = bytesOf(caller);
    return bytes === undefined ? [] : [`at most ${bytes.amount} bytes a day, arguments and results together`];
  },
});
