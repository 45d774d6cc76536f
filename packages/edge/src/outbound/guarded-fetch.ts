import { type Agent, fetch } from "undici";
import { type AddressPolicyOptions, createAddressPolicy } from "./address-policy.ts";
import { createGuardedAgent } from "./guarded-agent.ts";

const CONNECT_TIMEOUT_MS = 10_000;
/** A server may think that long before it answers, or between two events. */
const IDLE_TIMEOUT_MS = 300_000;
const MAX_HEADER_BYTES = 32_768;
/** The most connections to one host. A stream of events holds one for as long as it lasts. */
const CONNECTIONS = 128;

/** One for each policy there is: the operator's settings, so they are few. */
const agents = new Map<string, Agent>();

/**
 * `fetch` that connects to public addresses only, and follows no redirect. The address of each connection decides. Only
 * the named place is allowed, not a place that it redirects to.
 * @throws {RangeError} if an exception of `allowAddresses` cannot be read
 */
export function guardedFetch(guard: AddressPolicyOptions): typeof globalThis.fetch {
  const agent = guardedAgent(guard);
  const guarded = (url: string | URL, init: Parameters<typeof fetch>[1] = {}) =>
    fetch(url, { ...init, redirect: "error", dispatcher: agent });
  return guarded as unknown as typeof globalThis.fetch; // the same interface, by undici's own types
}

/** The connections of a `guardedFetch`. @throws as that */
export function guardedAgent({ allowPorts, allowAddresses }: AddressPolicyOptions): Agent {
  const key = JSON.stringify([allowPorts, allowAddresses]);
  const agent =
    agents.get(key) ??
    createGuardedAgent({
      policy: createAddressPolicy({ allowPorts, allowAddresses }),
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      idleTimeoutMs: IDLE_TIMEOUT_MS,
      maxHeaderBytes: MAX_HEADER_BYTES,
      connections: CONNECTIONS,
    });
  agents.set(key, agent);
  return agent;
}
