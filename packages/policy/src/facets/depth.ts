import { defineFacet, limitOf } from "./facet.ts";

const DEFAULT_DEPTH = 8;

export const depth = defineFacet({
  place: "limits",
  readBy: "decisions",
  schema: {
    type: "integer",
    minimum: 0,
    maximum: 100,
    description: `How many calls may stand between the first and this one, each made by a tool; ${DEFAULT_DEPTH} when left out.`,
  },
  docs: [
    {
      holds:
        "calls that led to this one, each made by a tool: a tool that hands its context on as `parent` hands it on",
      beyond: "`denied`",
    },
  ],
  example: 4,
  read: (said) => ({ depthOf: (caller: string): number => limitOf(said, "depth", caller) ?? DEFAULT_DEPTH }),
  explain: ({ depthOf }, { caller }) => [`at most ${depthOf(caller)} calls between the first and this one`],
});
