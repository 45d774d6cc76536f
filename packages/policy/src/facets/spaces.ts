import { defineFacet, listOf } from "./facet.ts";

export const spaces = defineFacet({
  place: "entries",
  readBy: "services",
  schema: {
    type: "array",
    maxItems: 100,
    uniqueItems: true,
    items: { type: "string", pattern: "^[a-z0-9][a-z0-9-]{0,38}$", not: { const: "private" } },
    description:
      "The spaces of the knowledge base that a caller reads and may save to, besides its own items. A caller's own list replaces everyone's. Once a list stands anywhere, callers without one open none; else all open the space shared.",
  },
  docs: [
    {
      holds:
        "spaces of the knowledge base that the caller reads and saves to, besides its own items: its own list, else everyone's. Once a list stands anywhere, callers without one open none; else all open `shared`",
      beyond: "an item there is not found; to save there is `denied`",
    },
  ],
  example: ["shared", "support"],
  read(said) {
    const { everyone } = said.document;
    const all = [everyone, ...said.callers.values()];
    const listed = listOf(said, "spaces");
    return {
      /**
       * The spaces of the knowledge base that this caller opens.
       * @returns undefined if the policy names none for anybody: what is shared
       */
      spacesOf: (caller: string): readonly string[] | undefined => listed(caller),
      /** The spaces that every caller opens, named or not. @returns undefined likewise */
      commonSpaces(): readonly string[] | undefined {
        if (all.every(({ spaces }) => spaces === undefined)) return undefined;
        const common = everyone.spaces ?? [];
        return common.filter((space) => all.every(({ spaces = everyone.spaces }) => spaces?.includes(space)));
      },
    };
  },
  explain: ({ spacesOf }, { caller }) =>
    (spacesOf(caller) ?? []).map((space) => `opens the space ${space} of the knowledge base`),
});
