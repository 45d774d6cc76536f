import { isRejected, Registrations } from "./registrations.ts";
import { describeRequest } from "./requested-server.ts";
import type { TrustStore } from "./trust-store.ts";

/** A server that an agent has registered, for an operator. */
export interface StandingServer {
  readonly server: string;
  readonly agent: string;
  readonly digest: string;
  /** What is connected to or runs, exactly. */
  readonly lines: readonly string[];
  /** `the catalogue`, `an allowed host`, or the operator who approved it. */
  readonly by: string;
  readonly at: string;
}

/** A server that an operator has refused an agent, or has taken from it, and that can be approved after all. */
export interface RejectedServer extends Omit<StandingServer, "by"> {
  readonly rejectedBy: string;
}

/** Servers as an operator was shown them: the decision is about these and nothing that came in their place since. */
export type ShownServers = readonly { readonly server: string; readonly digest: string }[];

export interface WithdrawalOutcome {
  readonly done: readonly string[];
  /** They are not there any more as they were shown. */
  readonly stale: readonly string[];
}

/** The servers that agents have registered. @throws {TrustStoreUnavailableError} */
export async function readRegistered(store: TrustStore): Promise<StandingServer[]> {
  const { registered } = await new Registrations(store).read();
  return registered.map(({ request, agent, digest, by, at }) => ({ server: request.name, agent, digest, lines: describeRequest(request), by, at }));
}

/** The servers that agents may not have, within the day that this holds. @throws {TrustStoreUnavailableError} */
export async function readRejected(store: TrustStore, now?: () => Date): Promise<RejectedServer[]> {
  const { asked } = await new Registrations(store, now).read();
  return asked.flatMap((one) => {
    const { request, agent, digest, rejectedBy, at } = one;
    return isRejected(one) && rejectedBy !== undefined ? [{ server: request.name, agent, digest, lines: describeRequest(request), rejectedBy, at }] : [];
  });
}

/** Refuses servers that agents ask for, as the operator `by`; they may not ask for the same for a day, unless it is approved after all. @throws {TrustStoreUnavailableError} */
export function rejectServers(store: TrustStore, servers: ShownServers, by: string, now?: () => Date): Promise<WithdrawalOutcome> {
  const registrations = new Registrations(store, now);
  return decideEach(servers, (digest) => registrations.reject(digest, by));
}

/** Takes servers from the agents that have registered them, which may not have the same again for a day. All bridges leave them within a second or two. @throws {TrustStoreUnavailableError} */
export function removeServers(store: TrustStore, servers: ShownServers, by: string, now?: () => Date): Promise<WithdrawalOutcome> {
  const registrations = new Registrations(store, now);
  return decideEach(servers, (digest) => registrations.remove(digest, by));
}

async function decideEach(servers: ShownServers, decide: (digest: string) => Promise<boolean>): Promise<WithdrawalOutcome> {
  const done: string[] = [];
  const stale: string[] = [];
  for (const { server, digest } of servers) ((await decide(digest)) ? done : stale).push(server);
  return { done, stale };
}
