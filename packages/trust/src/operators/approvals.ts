import { describeChange } from "../pins/describe-change.ts";
import {
  FIRST_SIGHT,
  type HeldReason,
  type HeldTool,
  PIN_RECORDS,
  type PinRecord,
  pinRecordName,
  type SeenTool,
} from "../pins/pin.ts";
import { readPinRecord } from "../pins/read-pin-record.ts";
import type { SourceState } from "../pins/source-state.ts";
import { Registrations } from "../servers/registrations.ts";
import { describeRequest } from "../servers/requested-server.ts";
import { type TrustStore, unchanged, updateRecord } from "../store/trust-store.ts";

/** A definition that an operator can approve, with what there is to know about it. Its texts are a stranger's. */
export interface WaitingTool {
  readonly server: string;
  readonly tool: string;
  readonly hash: string;
  /** `first_sight` of one that is offered as it was first seen: nobody has approved it, and it does not wait. */
  readonly reason: HeldReason | typeof FIRST_SIGHT_REASON;
  readonly renamedFrom?: string | undefined;
  readonly suspicions: readonly string[];
  /** The changes since it was pinned, or the words of a new one. */
  readonly changes: readonly string[];
  /** Absent where the definition is not kept. */
  readonly definition?: SeenTool | undefined;
  /** The definition that is pinned, as far as it is kept. */
  readonly before?: SeenTool | undefined;
  readonly at: string;
}

/** A server that an agent asks for. */
export interface WaitingServer {
  readonly server: string;
  readonly agent: string;
  readonly digest: string;
  /** The program or address that would be started or connected to, exactly. */
  readonly lines: readonly string[];
  readonly at: string;
}

const FIRST_SIGHT_REASON = "first_sight";

/** All that waits for an operator: tools and servers. */
export interface Waiting {
  readonly tools: readonly WaitingTool[];
  readonly servers: readonly WaitingServer[];
  /** What is offered though nobody has approved it. A service of an earlier release does not tell. */
  readonly firstSeen?: readonly WaitingTool[] | undefined;
  /** How the sources of all these stand, as far as a service runs that knows. */
  readonly sources?: readonly SourceState[] | undefined;
}

/** A definition as an operator was shown it: of one that was shown as rejected, also by whom. */
export interface ShownTool {
  readonly server: string;
  readonly tool: string;
  readonly hash: string;
  readonly rejectedBy?: string | undefined;
}

/** A definition that an operator has refused, and that can be approved after all. */
export interface RejectedTool extends WaitingTool {
  readonly rejectedBy: string;
  /** Why, in that operator's words. */
  readonly note?: string | undefined;
}

/** The entries to approve: exactly those that the operator saw, and nothing that came in their place since. */
export interface Approval {
  readonly tools: readonly ShownTool[];
  /**
   * Named for a request that was shown as rejected: one that was shown as waiting, and rejected by somebody meanwhile,
   * stays rejected.
   */
  readonly servers: readonly {
    readonly server: string;
    readonly digest: string;
    readonly rejectedBy?: string | undefined;
  }[];
  /** Why, in the operator's words. */
  readonly note?: string | undefined;
}

/** The outcome of an approval. Names of tools are `server: tool`. */
export interface ApprovalOutcome {
  readonly approved: readonly string[];
  /** They are not there any more as they were shown: decided by somebody else, changed again, or gone. */
  readonly stale: readonly string[];
}

/** Reads all that waits for an operator. @throws {StoreUnavailableError} */
export async function readWaiting(store: TrustStore, now?: () => Date): Promise<Waiting> {
  const tools = (await readHeld(store)).filter(({ rejectedBy }) => rejectedBy === undefined);
  const { asked } = await new Registrations(store, now).read();
  const servers = asked
    .filter(({ approvedBy, rejectedBy }) => approvedBy === undefined && rejectedBy === undefined)
    .map(({ request, agent, digest, at }) => ({
      server: request.name,
      agent,
      digest,
      lines: describeRequest(request),
      at,
    }));
  return { tools, servers, firstSeen: (await readRecords(store)).flatMap(firstSeenIn) };
}

async function readRecords(store: TrustStore): Promise<PinRecord[]> {
  const records: PinRecord[] = [];
  for (const name of await store.names()) {
    if (!name.startsWith(PIN_RECORDS)) continue;
    const record = readPinRecord(name, (await store.read(name)).value);
    if (record !== undefined) records.push(record);
  }
  return records;
}

/** All definitions that are held, those that were refused too. @throws {StoreUnavailableError} */
export const readHeld = async (store: TrustStore): Promise<(WaitingTool & Partial<RejectedTool>)[]> =>
  (await readRecords(store)).flatMap(heldIn);

function firstSeenIn({ server, pins, held }: PinRecord): WaitingTool[] {
  return pins.flatMap(({ name: tool, hash, definition, by, at }) => {
    if (by !== FIRST_SIGHT || held.some(({ name }) => name === tool)) return [];
    const changes = definition === undefined ? [TOO_LARGE] : describeChange(undefined, definition);
    return [{ server, tool, hash, reason: FIRST_SIGHT_REASON, suspicions: [], changes, at }];
  });
}

const TOO_LARGE = "the definition is too large to be kept, so its words cannot be shown: read it at the server";

function heldIn({ server, pins, held }: PinRecord): (WaitingTool & Partial<RejectedTool>)[] {
  return held.map(({ name: tool, hash, reason, renamedFrom, suspicions = [], definition, at, rejectedBy, note }) => {
    const before = pins.find(({ name }) => name === (renamedFrom ?? tool));
    const changes =
      definition === undefined || (before !== undefined && before.definition === undefined)
        ? [TOO_LARGE]
        : describeChange(before?.definition, definition);
    return {
      server,
      tool,
      hash,
      reason,
      ...(renamedFrom === undefined ? {} : { renamedFrom }),
      suspicions,
      changes,
      ...(definition === undefined ? {} : { definition }),
      ...(before?.definition === undefined ? {} : { before: before.definition }),
      at,
      ...(rejectedBy === undefined ? {} : { rejectedBy }),
      ...(note === undefined ? {} : { note }),
    };
  });
}

/**
 * Approves, as the operator `by`. Tools are offered from the next look at the store on, at most a second later.
 * @throws {StoreUnavailableError}
 */
export async function approve(
  store: TrustStore,
  { tools, servers }: Approval,
  by: string,
  now: () => Date = () => new Date(),
): Promise<ApprovalOutcome> {
  const approved: string[] = [];
  const stale: string[] = [];
  const at = now().toISOString();
  for (const tool of tools) ((await approveTool(store, tool, { by, at })) ? approved : stale).push(nameOf(tool));
  for (const { server, digest, rejectedBy } of servers)
    ((await new Registrations(store, now).approve(digest, by, rejectedBy)) ? approved : stale).push(server);
  return { approved, stale };
}

const approveTool = async (
  store: TrustStore,
  shown: ShownTool,
  stamp: { readonly by: string; readonly at: string },
): Promise<boolean> =>
  (await decideHeld(store, shown, ({ pins, held, ...record }, { name, hash, shape, definition }) => ({
    ...record,
    pins: [...pins.filter((pin) => pin.name !== name), { name, hash, shape, definition, ...stamp }],
    held: held.filter((one) => one.name !== name),
  }))) ||
  (await decide(store, shown.server, (record) =>
    firstSeenIn(record).some(({ tool, hash }) => tool === shown.tool && hash === shown.hash)
      ? { ...record, pins: record.pins.map((pin) => (pin.name === shown.tool ? { ...pin, ...stamp } : pin)) }
      : undefined,
  ));

/** Decides about a definition that is held as it was shown. @returns false if it is not any more */
export const decideHeld = (
  store: TrustStore,
  shown: ShownTool,
  decideAbout: (record: PinRecord, held: HeldTool) => PinRecord,
): Promise<boolean> =>
  decide(store, shown.server, (record) => {
    const found = record.held.find(
      (held) => held.name === shown.tool && held.hash === shown.hash && held.rejectedBy === shown.rejectedBy,
    );
    return found === undefined ? undefined : decideAbout(record, found);
  });

/** @param change returns undefined if the record does not have what was shown. @returns whether it had */
async function decide(
  store: TrustStore,
  server: string,
  change: (record: PinRecord) => PinRecord | undefined,
): Promise<boolean> {
  const name = pinRecordName(server);
  let isFound = false;
  await updateRecord(store, name, (value) => {
    const record = readPinRecord(name, value);
    const changed = record === undefined ? undefined : change(record);
    isFound = changed !== undefined;
    return changed ?? unchanged;
  });
  return isFound;
}

/** The name of a tool in words for operators. */
export const nameOf = ({ server, tool }: Pick<ShownTool, "server" | "tool">): string => `${server}: ${tool}`;
