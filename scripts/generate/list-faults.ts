import { type BusService, egresses, type Server, stateKinds } from "@rockbot/services";
import { namesHelp } from "../../packages/contracts/src/faults/describe-faults.ts";
import { isName } from "../../packages/contracts/src/names.ts";
import { facets as facetsThere } from "../../packages/policy/src/facets/index.ts";
import { matchesGlob } from "../../packages/policy/src/tool-glob.ts";

const LIST = "services/index.ts";

/** Tools of MCP servers, {server}__{tool}, are in no schema of ours. */
const IN_NO_SCHEMA = "__";

/** What an entry says; those that people wrote may lack or misspell any of it. */
export type Entry = Pick<Server, "name" | "summary" | "egress"> &
  Partial<Pick<BusService, "topic" | "tools" | "owns" | "state" | "facets" | "isDelegate">> & {
    readonly onBus: boolean;
  };

/**
 * The faults of the list of services that it shows by itself, without a look at files beside it.
 * @param tools the names of all tools that the schemas define; undefined if they are not known
 */
export function listFaults(entries: readonly Entry[], tools: readonly string[] | undefined): string[] {
  const names = entries.map(({ name }) => name);
  const faults = [
    ...[...new Set(names.filter((name, index) => names.indexOf(name) < index))].map(
      (name) => `has two entries of the name "${name}": give each the name of its folder`,
    ),
    ...entries.flatMap((entry) =>
      [...wordFaults(entry), ...placeFaults(entry), ...globFaults(entry, tools)].map(
        (fault) => `"${entry.name}" ${fault}`,
      ),
    ),
    ...ownerFaults(entries),
  ];
  return faults.map((fault) => `${LIST}: ${fault}`);
}

/** The topics that the service takes messages from. */
const topicsOf = ({ topic, owns = [] }: Pick<Entry, "topic" | "owns">): string[] => [
  ...(topic === undefined ? [] : [topic]),
  ...owns,
];

function wordFaults({ name, summary, onBus, state, egress, facets = [] }: Entry): string[] {
  const known = (what: string, words: readonly string[] | undefined, all: object): string[] => {
    if (!Array.isArray(words)) return [`has no ${what}: give it a list, [] if there is nothing`];
    return words
      .filter((word) => !Object.hasOwn(all, word))
      .map((word) => `has the ${what} "${word}", which is none. ${namesHelp(word, Object.keys(all))}`);
  };
  return [
    ...(isName(name)
      ? []
      : ["has a name that no service can have: expected lower-case letters, digits and dashes, 39 at most"]),
    ...(typeof summary === "string" && summary.trim() !== ""
      ? []
      : ["has no summary: say in one sentence for an operator what it does"]),
    ...(onBus ? known("state", state, stateKinds) : []),
    ...known("egress", egress, egresses),
    ...known("facet", facets, facetsThere),
  ];
}

function placeFaults({ onBus, topic, tools = [], owns = [], isDelegate = false }: Entry): string[] {
  if (!onBus) return [];
  if (owns.length > 0 && topic === undefined)
    return ["owns topics and has no topic of its calls, so that the policy gives it no rights: give it one"];
  if (tools.length > 0 && topic === undefined)
    return ["has tools and no topic, so that no call reaches them: give it the topic that its calls come on"];
  if (topic !== undefined || isDelegate) return [];
  return [
    "has no topic and is no delegate, so that the policy gives it no user at the broker: give it a topic, or isDelegate: true if it calls tools for others",
  ];
}

function globFaults({ tools = [] }: Entry, known: readonly string[] | undefined): string[] {
  const idle = tools.filter(
    (glob) => known !== undefined && !glob.includes(IN_NO_SCHEMA) && !known.some((tool) => matchesGlob(glob, tool)),
  );
  return idle.map(
    (glob) =>
      `has "${glob}" among its tools, which is the name of no tool in packages/contracts/schema. ${namesHelp(glob, known ?? [])}`,
  );
}

/** A topic has one owner: else a call would run twice. */
function ownerFaults(entries: readonly Entry[]): string[] {
  const owners = new Map<string, string>();
  return entries.flatMap((entry) =>
    topicsOf(entry).flatMap((owned) => {
      const other = owners.get(owned);
      owners.set(owned, entry.name);
      return other === undefined
        ? []
        : [`"${entry.name}" and "${other}" have the topic ${owned}, and a topic has one owner`];
    }),
  );
}
