import { pinRecordName } from "../pins/pin.ts";
import { readPinRecord } from "../pins/read-pin-record.ts";
import { isRejected, Registrations } from "../servers/registrations.ts";
import { describeRequest } from "../servers/requested-server.ts";
import { type TrustStore, unchanged, updateRecord } from "../store/trust-store.ts";
import { decideHeld, nameOf, type RejectedTool, readHeld, type ShownTool } from "./approvals.ts";

/** A server that an agent has registered, for an operator. */
export interface StandingServer {
  readonly server: string;
  readonly agent: string;
  readonly digest: string;
  /** The program that runs, or the address that is connected to, exactly. */
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

/** The entries that were withdrawn, and those that had changed since they were shown. */
export interface WithdrawalOutcome {
  readonly done: readonly string[];
  /** They are not there any more as they were shown. */
  readonly stale: readonly string[];
}

/** The servers that agents have registered. @throws {StoreUnavailableError} */
export async function readRegistered(store: TrustStore): Promise<StandingServer[]> {
  const { registered } = await new Registrations(store).read();
  return registered.map(({ request, agent, digest, by, at }) => ({
    server: request.name,
    agent,
    digest,
    lines: describeRequest(request),
    by,
    at,
  }));
}

/** The entries that operators have refused, and can still approve. */
export interface Rejected {
  readonly tools: readonly RejectedTool[];
  /** Servers that agents may not have, for a day. */
  readonly servers: readonly RejectedServer[];
}

/** The entries to refuse: exactly those that the operator saw. */
export interface Rejection {
  readonly tools: readonly ShownTool[];
  readonly servers: ShownServers;
  /** Why, in the operator's words. It is kept with tools. */
  readonly note?: string | undefined;
}

/** Reads the entries that operators have refused. @throws {StoreUnavailableError} */
export async function readRejected(store: TrustStore, now?: () => Date): Promise<Rejected> {
  const held = await readHeld(store);
  const { asked } = await new Registrations(store, now).read();
  const servers = asked.flatMap((one) => {
    const { request, agent, digest, rejectedBy, at } = one;
    return isRejected(one) && rejectedBy !== undefined
      ? [{ server: request.name, agent, digest, lines: describeRequest(request), rejectedBy, at }]
      : [];
  });
  return {
    tools: held.flatMap(({ rejectedBy, ...tool }) => (rejectedBy === undefined ? [] : [{ ...tool, rejectedBy }])),
    servers,
  };
}

/**
 * Refuses held definitions and requested servers, as the operator `by`. A refused definition waits no more until it
 * changes. An agent may not ask for a refused server again for a day. Both can still be approved. @throws
 * {StoreUnavailableError}
 */
export async function reject(
  store: TrustStore,
  { tools, servers, note }: Rejection,
  by: string,
  now?: () => Date,
): Promise<WithdrawalOutcome> {
  const done: string[] = [];
  const stale: string[] = [];
  for (const tool of tools) {
    const isDone = await decideHeld(store, tool, (record, found) => ({
      ...record,
      held: record.held.map((held) =>
        held === found ? { ...held, rejectedBy: by, ...(note === undefined ? {} : { note }) } : held,
      ),
    }));
    (isDone ? done : stale).push(nameOf(tool));
  }
  const registrations = new Registrations(store, now);
  const outcome = await decideEach(servers, (digest) => registrations.reject(digest, by));
  return { done: [...done, ...outcome.done], stale: [...stale, ...outcome.stale] };
}

/**
 * Takes servers from the agents that have registered them, which may not have the same again for a day. All bridges
 * leave them within a second or two.
 * @throws {StoreUnavailableError}
 */
export async function removeServers(
  store: TrustStore,
  servers: ShownServers,
  by: string,
  now?: () => Date,
): Promise<WithdrawalOutcome> {
  const registrations = new Registrations(store, now);
  const outcome = await decideEach(servers, (digest) => registrations.remove(digest, by));
  for (const server of outcome.done) await forgetWaiting(store, server);
  return outcome;
}

/**
 * Nothing waits of a server that is not there any more; what is pinned of it, and what was refused, holds if it comes
 * back.
 * @throws {StoreUnavailableError}
 */
export async function forgetWaiting(store: TrustStore, server: string): Promise<void> {
  const name = pinRecordName(server);
  await updateRecord(store, name, (value) => {
    const record = readPinRecord(name, value);
    const held = record?.held.filter(({ rejectedBy }) => rejectedBy !== undefined) ?? [];
    return record === undefined || held.length === record.held.length ? unchanged : { ...record, held };
  });
}

async function decideEach(
  servers: ShownServers,
  decide: (digest: string) => Promise<boolean>,
): Promise<WithdrawalOutcome> {
  const done: string[] = [];
  const stale: string[] = [];
  for (const { server, digest } of servers) ((await decide(digest)) ? done : stale).push(server);
  return { done, stale };
}
