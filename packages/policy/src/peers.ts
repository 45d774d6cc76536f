import { reservedPrefixOf } from "@rockbot/contracts";
import { delegatesOf, scriptsUserOf } from "./delegates.ts";
import { entries } from "./document/document-place.ts";
import type { PolicyDocument, PolicyService } from "./generated/policy.ts";
import { isBusAgent, ownedTopics } from "./owned-topics.ts";
import { findGlob } from "./tool-glob.ts";

/** The other parties on a bus, as the policy names them. The bus verifies a user; a call runs on behalf of a caller. */
export interface Peers {
  /** The caller that a user is; undefined if its name is that of a caller who has another user, or none. */
  callerOf(user: string): string | undefined;
  /** Tells whether the user may call on behalf of others. Operators may: they play parked calls again. */
  isDelegate(user: string): boolean;
  /** Tells whether the user may call on behalf of this caller. */
  mayCallFor(user: string, caller: string): boolean;
  /** The user that makes the calls of scripts. */
  readonly scriptsUser: string;
  /** Tells whether the user may send messages without a verified sender. */
  isLegacy(user: string): boolean;
  /** The user that a service speaks as; undefined if the policy names services, and not this one. */
  userOf(service: string): string | undefined;
  /** Tells whether the tool is one that the service may offer, on that topic, which has to be its own. */
  mayOffer(service: string, tool: { readonly name: string; readonly topic: string }): boolean;
  /**
   * Tells whether the user may give the results of the tool, by all that the policy says: no user may, if it names no
   * services.
   */
  mayAnswer(user: string, toolName: string): boolean;
}

const made = new WeakMap<PolicyDocument, Peers>();

/** The same object as long as the policy is the same. */
export function peersOf(document: PolicyDocument): Peers {
  const known = made.get(document);
  if (known !== undefined) return known;
  const peers = createPeers(document);
  made.set(document, peers);
  return peers;
}

/** A reserved prefix belongs to the service whose entry says it: `*__*`, as for MCP servers, does not mean it. */
function globsFor(tools: readonly string[], name: string): readonly string[] {
  const reserved = reservedPrefixOf(name);
  return reserved === undefined ? tools : tools.filter((glob) => glob === "*" || reservedPrefixOf(glob) === reserved);
}

function createPeers(document: PolicyDocument): Peers {
  const callers = new Map<string, string>();
  for (const [name, { user = name }] of entries(document.callers)) if (user !== null) callers.set(user, name);
  const callerNames = new Set(entries(document.callers).map(([name]) => name));
  const delegates = Map.groupBy(delegatesOf(document), ({ user }) => user);
  const legacy = new Set(document.legacyPeers);
  const services = new Map(entries(document.services));
  const hasTool = ({ topic, tools = isBusAgent({ topic }) ? [] : undefined }: PolicyService, name: string) =>
    tools === undefined || findGlob(globsFor(tools, name), name) !== undefined;

  return {
    callerOf: (user) => callers.get(user) ?? (callerNames.has(user) ? undefined : user),
    isDelegate: (user) => delegates.has(user),
    mayCallFor: (user, caller) =>
      delegates.get(user)?.some(({ callers: globs }) => findGlob(globs, caller) !== undefined) ?? false,
    scriptsUser: scriptsUserOf(document),
    isLegacy: (user) => legacy.has(user),
    userOf(service) {
      if (services.size === 0) return service;
      const known = services.get(service);
      return known === undefined ? undefined : (known.user ?? service);
    },
    mayOffer(service, { name, topic }) {
      if (services.size === 0) return true;
      const known = services.get(service);
      return (
        known !== undefined &&
        [known, ...ownedTopics(service, known)].some((own) => own.topic === topic) &&
        hasTool(known, name)
      );
    },
    mayAnswer(user, toolName) {
      for (const [name, service] of services)
        if ((service.user ?? name) === user && hasTool(service, toolName)) return true;
      return false;
    },
  };
}
