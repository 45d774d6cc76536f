import { defineFacet, limitOf } from "./facet.ts";

const DEFAULT_IN_FLIGHT = 256;

export const inFlight = defineFacet({
  place: "limits",
  readBy: "decisions",
  schema: {
    type: "integer",
    minimum: 1,
    maximum: 100_000,
    description: `Calls at once in one instance of a service; ${DEFAULT_IN_FLIGHT} when left out.`,
  },
  docs: [
    {
      holds:
        "calls at once in one instance of a service. Below its concurrency it leaves room for others, whatever the caller does.",
      beyond: "`overloaded` with `retryAfterMs`",
    },
  ],
  example: 8,
  read: (said) => ({
    /** How many calls this caller may have at once in one instance of a service, over all tools. */
    inFlightOf: (caller: string): number => limitOf(said, "inFlight", caller) ?? DEFAULT_IN_FLIGHT,
  }),
  explain: ({ inFlightOf }, { caller }) => [
    `at most ${inFlightOf(caller)} calls at once of all tools, in one instance of a service`,
  ],
});
