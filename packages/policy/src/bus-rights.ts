import { replyRoots } from "@rockbot/contracts";
import { delegatesOf, letterOperators } from "./delegates.ts";
import { entries } from "./document/document-place.ts";
import type { PolicyDocument, PolicyService } from "./generated/policy.ts";
import { givesTasks, isBusAgent, type OwnedTopic, ownedTopics } from "./owned-topics.ts";
import { globCovers, globsMeet } from "./tool-glob.ts";

/**
 * The rights of one user on the bus. Topics and names of subscriptions are patterns like those of a subscription: `*`
 * is any one word, or the rest of one. A user that may hear a pattern may subscribe to it, or to anything that it takes
 * in.
 */
export interface BusRights {
  readonly user: string;
  /** The services that the user is: their subscriptions of kind `service`. */
  readonly serves: readonly string[];
  /** Subscriptions of kind `result` that are the user's own; `*` is the number of an instance. */
  readonly results: readonly string[];
  /** True if the broker names queues for the user, as it asks: older peers ask for as many as they like. */
  readonly isLegacy: boolean;
  /** The services whose parked messages the user looks after. */
  readonly operates: readonly string[];
  readonly publishes: readonly string[];
  readonly hears: readonly string[];
}

type Right = "serves" | "results" | "operates" | "publishes" | "hears";

/**
 * The rights of every user that the policy names, and no others, sorted by user. The receiver of a message judges its
 * content.
 */
export function busRights(document: PolicyDocument): BusRights[] {
  const rights = new Map<string, Rights>();
  const services = entries(document.services);

  function grant(user: string, right: Right, ...names: string[]): void {
    const of = rights.get(user) ?? noRights();
    rights.set(user, of);
    for (const name of names) of[right].add(name);
  }

  function grantServing(name: string, service: PolicyService): void {
    const { user = name, topic } = service;
    const hasTools = !isBusAgent(service);
    grant(user, "serves", name);
    if (hasTools)
      grant(user, "hears", topic, `tool.cancel.${name}`, "tool.announce.probe", `tool.announce.list.${name}`);
    if (hasTools) grant(user, "publishes", `tool.announce.${name}`);
    const owned = ownedTopics(name, service);
    const answers = [...(hasTools ? replyRoots : []), ...owned.flatMap(({ replies }) => replies)];
    for (const root of [...answers, ...(hasTools ? [PROGRESS] : [])])
      grant(user, "publishes", `${root}.*`, `${root}.*.*`);
    if (document.legacyPeers.length > 0) grant(user, "publishes", ...answers); // their requests may name no topic of their own
    for (const { topic: heard, subscription, tells, broadcasts = [], among } of owned) {
      if (subscription !== undefined) grant(user, "serves", subscription);
      grant(user, "hears", heard, ...among);
      grant(user, "publishes", ...among, ...broadcasts, ...(tells === undefined ? [] : [tells("*", "*")]));
    }
    if (givesTasks(service)) grant(user, "results", `result.tasks.${user}.*`);
    if (givesTasks(service)) for (const each of tasksOf(services)) grantAsking(user, each);
  }

  /** Grants publishing to a topic that a service owns, and hearing its answers. */
  function grantAsking(user: string, { topic, replies, broadcasts = [] }: OwnedTopic): void {
    grant(user, "publishes", topic);
    grant(user, "hears", ...broadcasts, ...replies.flatMap((root) => below(root, user)));
  }

  /** @param callers patterns for those that it calls for */
  function grantCalling(user: string, callers: readonly string[], mayUse: (service: PolicyService) => boolean): void {
    grant(user, "results", `result.${user}`, `result.${user}.*`);
    grant(user, "hears", "tool.announce.*");
    grant(user, "hears", ...[...replyRoots, PROGRESS].flatMap((root) => below(root, user)));
    grant(user, "publishes", "tool.announce.probe", "tool.announce.list.*");
    for (const [name, service] of services) {
      if (!mayUse(service)) continue;
      if (!isBusAgent(service)) grant(user, "publishes", service.topic, `tool.cancel.${name}`);
      for (const each of ownedTopics(name, service)) {
        const { replies, tells } = each;
        grantAsking(user, each);
        if (document.legacyPeers.includes(user)) grant(user, "hears", ...replies); // proxies of before share one topic
        if (tells !== undefined) grant(user, "hears", ...callers.map((caller) => tells(user, caller)));
      }
    }
  }

  for (const [name, service] of services) grantServing(name, service);
  const named = entries(document.callers);
  for (const [name, { user = name, allow, deny = [] }] of named) {
    if (user !== null)
      grantCalling(
        user,
        [name],
        mayUseSomeOf(allow ?? document.everyone.allow, [...(document.everyone.deny ?? []), ...deny]),
      );
  }
  for (const user of document.legacyPeers) {
    if (!rights.has(user))
      grantCalling(user, [user], mayUseSomeOf(document.everyone.allow, document.everyone.deny ?? []));
  }
  // Each of their callers has rights of its own.
  for (const { user, callers } of delegatesOf(document)) grantCalling(user, callers, () => true);
  for (const { name: user } of letterOperators(document.operators))
    grant(user, "operates", ...services.map(([name]) => name));

  return [...rights]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([user, granted]) => ({ user, isLegacy: document.legacyPeers.includes(user), ...listed(granted) }));
}

/** The topics on which agents take tasks and cancels. */
const tasksOf = (services: readonly (readonly [string, PolicyService])[]): OwnedTopic[] =>
  services
    .flatMap(([name, service]) => ownedTopics(name, service))
    .filter(({ topic }) => topic.startsWith("agent.task."));

type Rights = Record<Right, Set<string>>;

const noRights = (): Rights => ({
  serves: new Set(),
  results: new Set(),
  operates: new Set(),
  publishes: new Set(),
  hears: new Set(),
});

const listed = ({ serves, results, operates, publishes, hears }: Rights): Record<Right, readonly string[]> => ({
  serves: [...serves],
  results: [...results],
  operates: [...operates],
  publishes: [...publishes],
  hears: [...hears],
});

const PROGRESS = "tool.progress";

/** Topics of a user's own. */
const below = (root: string, user: string): string[] => [`${root}.${user}`, `${root}.${user}.*`];

/**
 * Tells whether a service has a tool that the lists let through. A topic carries all tools of its service, so this may
 * be more than one tool.
 */
const mayUseSomeOf =
  (allow: readonly string[], deny: readonly string[]) =>
  ({ topic, tools = isBusAgent({ topic }) ? [] : ["*"] }: PolicyService): boolean =>
    tools.some((tool) => !deny.some((glob) => globCovers(glob, tool)) && allow.some((glob) => globsMeet(glob, tool)));
