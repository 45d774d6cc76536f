import { defineFacet, listOf } from "./facet.ts";

export const hosts = defineFacet({
  place: "entries",
  readBy: "services",
  schema: {
    type: "array",
    maxItems: 100,
    uniqueItems: true,
    items: { type: "string", pattern: "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?:[1-9][0-9]{0,4}$" },
    description:
      "What commands of bash reach over the network, as HOST:PORT: nothing where no list stands. A caller's own list replaces everyone's.",
  },
  docs: [
    {
      holds:
        "what commands of `bash` reach over the network, as `HOST:PORT`, through a proxy: the caller's own list, else everyone's, else nothing",
      beyond: "the proxy refuses the command's connection",
    },
  ],
  example: ["pypi.org:443", "files.pythonhosted.org:443"],
  read(said) {
    const listed = listOf(said, "hosts");
    return {
      /** What this caller's commands may reach over the network, as `host:port`. */
      hostsOf: (caller: string): readonly string[] => listed(caller) ?? [],
    };
  },
  explain: ({ hostsOf }, { caller }) => hostsOf(caller).map((host) => `reaches ${host} from commands`),
});
