import { MCP_MANAGE_SUBSCRIPTION, mcpTopics, replyRoots } from "@rockbot/contracts";
import { entries } from "./document/document-place.ts";
import type { PolicyDocument, PolicyService } from "./generated/policy.ts";
import { globCovers, globsMeet } from "./tool-glob.ts";

/**
 * The rights of one user on the bus. Topics and names of subscriptions are patterns like those of a subscription: `*` is any one word. A user
 * that may hear a pattern may subscribe to it, or to anything that it takes in.
 */
export interface BusRights {
  readonly user: string;
  /** The services that the user is: their subscriptions of kind `service`. */
  readonly serves: readonly string[];
  /** Subscriptions of kind `result` that are the user's own; `*` is the number of an instance. */
  readonly results: readonly string[];
  /** Whether the broker is to name queues for the user as it asks: peers of before ask for as many as they like. */
  readonly isLegacy: boolean;
  /** The services whose parked messages the user looks after. */
  readonly operates: readonly string[];
  readonly publishes: readonly string[];
  readonly hears: readonly string[];
}

type Right = "serves" | "results" | "operates" | "publishes" | "hears";

/** The rights of every user that the policy names, and no others, sorted by user. The receiver of a message judges its content. */
export function busRights(document: PolicyDocument): BusRights[] {
  const rights = new Map<string, Record<Right, Set<string>>>();
  const services = entries(document.services);

  function grant(user: string, right: Right, ...names: string[]): void {
    const of = rights.get(user) ?? { serves: new Set(), results: new Set(), operates: new Set(), publishes: new Set(), hears: new Set() };
    rights.set(user, of);
    for (const name of names) of[right].add(name);
  }

  function grantServing(name: string, { user = name, topic }: PolicyService): void {
    grant(user, "serves", name);
    grant(user, "hears", topic, `tool.cancel.${name}`, "tool.announce.probe", `tool.announce.list.${name}`);
    grant(user, "publishes", `tool.announce.${name}`);
    for (const root of [...replyRoots, PROGRESS]) grant(user, "publishes", `${root}.*`, `${root}.*.*`);
    if (document.legacyPeers.length > 0) grant(user, "publishes", ...replyRoots); // their requests may name no topic of their own
    if (topic !== mcpTopics.invoke) return;
    grant(user, "serves", MCP_MANAGE_SUBSCRIPTION);
    grant(user, "hears", mcpTopics.manage, mcpTopics.refresh);
    const betweenReplicas = [mcpTopics.owner("*"), mcpTopics.handedOver("*")];
    grant(user, "hears", ...betweenReplicas);
    grant(user, "publishes", mcpTopics.index("*"), ...betweenReplicas);
  }

  function grantCalling(user: string, mayUse: (service: PolicyService) => boolean): void {
    grant(user, "results", `result.${user}`, `result.${user}.*`);
    grant(user, "hears", "tool.announce.*");
    for (const root of [...replyRoots, PROGRESS]) grant(user, "hears", `${root}.${user}`, `${root}.${user}.*`);
    grant(user, "publishes", "tool.announce.probe", "tool.announce.list.*");
    for (const [name, service] of services) {
      if (!mayUse(service)) continue;
      grant(user, "publishes", service.topic, `tool.cancel.${name}`);
      if (service.topic !== mcpTopics.invoke) continue;
      grant(user, "publishes", mcpTopics.manage, mcpTopics.refresh);
      grant(user, "hears", mcpTopics.index(user));
    }
  }

  for (const [name, service] of services) grantServing(name, service);
  const named = entries(document.callers);
  for (const [name, { user = name, allow, deny = [] }] of named) {
    if (user !== null) grantCalling(user, mayUseSomeOf(allow ?? document.everyone.allow, [...(document.everyone.deny ?? []), ...deny]));
  }
  for (const user of document.legacyPeers) {
    if (!rights.has(user)) grantCalling(user, mayUseSomeOf(document.everyone.allow, document.everyone.deny ?? []));
  }
  const operators = document.operators.map(({ name }) => name);
  for (const user of [...document.delegates, ...operators]) grantCalling(user, () => true); // each of its callers has rights of its own
  for (const user of operators) grant(user, "operates", ...services.map(([name]) => name));

  return [...rights]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([user, { serves, results, operates, publishes, hears }]) => ({
      user,
      isLegacy: document.legacyPeers.includes(user),
      serves: [...serves],
      results: [...results],
      operates: [...operates],
      publishes: [...publishes],
      hears: [...hears],
    }));
}

const PROGRESS = "tool.progress";

/** Whether a service has a tool that the lists let through. A topic carries all tools of its service, so this may be more than one tool. */
const mayUseSomeOf =
  (allow: readonly string[], deny: readonly string[]) =>
  ({ tools = ["*"] }: PolicyService): boolean =>
    tools.some((tool) => !deny.some((glob) => globCovers(glob, tool)) && allow.some((glob) => globsMeet(glob, tool)));
