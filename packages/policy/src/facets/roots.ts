import { defineFacet, listOf } from "./facet.ts";

export const roots = defineFacet({
  place: "entries",
  readBy: "services",
  schema: {
    type: "array",
    maxItems: 100,
    uniqueItems: true,
    items: { type: "string", pattern: "^[a-z0-9][a-z0-9-]{0,38}$" },
    description:
      "The folders that workspace tools open, by the names that their service's settings give them. A caller's own list replaces everyone's. Once a list stands anywhere, callers without one open none.",
  },
  docs: [
    {
      holds:
        "folders that workspace tools open, by the names of the setting `workspaceRoots`: the caller's own list, else everyone's. Once a list stands anywhere, callers without one open none",
      beyond: "`denied`",
    },
  ],
  example: ["notes"],
  read(said) {
    const listed = listOf(said, "roots");
    return {
      /**
       * The names of the folders that workspace tools open for this caller.
       * @returns undefined if the policy names none for anybody: all of the service's
       */
      rootsOf: (caller: string): readonly string[] | undefined => listed(caller),
    };
  },
  explain: ({ rootsOf }, { caller }) => (rootsOf(caller) ?? []).map((root) => `opens the root ${root}`),
});
