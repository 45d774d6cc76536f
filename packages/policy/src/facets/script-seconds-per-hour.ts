import { amountOf, defineFacet, HOUR_MS } from "./facet.ts";

export const scriptSecondsPerHour = defineFacet({
  place: "limits",
  readBy: "decisions",
  schema: {
    type: "number",
    minimum: 1,
    maximum: 1_000_000,
    description: "Time that scripts may run, added up over all that run at once. Unlimited when left out.",
  },
  docs: [
    {
      holds:
        "time that scripts run: each takes all that it may use before it starts, and gives back what it has not used",
      beyond: "`rate_limited` with `retryAfterMs`",
    },
  ],
  example: 600,
  read: (said) => ({ scriptSecondsOf: amountOf(said, "scriptSecondsPerHour", "script seconds", HOUR_MS) }),
  explain({ scriptSecondsOf }, { caller }) {
    const seconds = scriptSecondsOf(caller);
    return seconds === undefined ? [] : [`scripts that run at most ${seconds.amount} s an hour, added up`];
  },
});
