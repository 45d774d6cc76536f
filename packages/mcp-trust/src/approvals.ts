import { describeChange } from "./describe-change.ts";
import { type HeldReason, PIN_RECORDS, type PinRecord, pinRecordName } from "./pin.ts";
import { readPinRecord } from "./read-pin-record.ts";
import { Registrations } from "./registrations.ts";
import { describeRequest } from "./requested-server.ts";
import { type TrustStore, unchanged, updateRecord } from "./trust-store.ts";

/** A definition that waits, with what there is to know about it. Its texts are a stranger's. */
export interface WaitingTool {
  readonly server: string;
  readonly tool: string;
  readonly hash: string;
  readonly reason: HeldReason;
  readonly renamedFrom?: string | undefined;
  readonly suspicions: readonly string[];
  /** What has changed since it was pinned, or what a new one says. */
  readonly changes: readonly string[];
  readonly at: string;
}

/** A server that an agent asks for. */
export interface WaitingServer {
  readonly server: string;
  readonly agent: string;
  readonly digest: string;
  /** What would be started or connected to, exactly. */
  readonly lines: readonly string[];
  readonly at: string;
}

export interface Waiting {
  readonly tools: readonly WaitingTool[];
  readonly servers: readonly WaitingServer[];
}

/** What is approved: exactly what the operator was shown, and nothing that came in its place since. */
export interface Approval {
  readonly tools: readonly { readonly server: string; readonly tool: string; readonly hash: string }[];
  /** Of one that was shown as rejected also by whom: what is shown as waiting, and rejected by somebody meanwhile, stays so. */
  readonly servers: readonly { readonly server: string; readonly digest: string; readonly rejectedBy?: string | undefined }[];
}

/** What an approval came to. Names of tools as `server: tool`. */
export interface ApprovalOutcome {
  readonly approved: readonly string[];
  /** They are not there any more as they were shown: decided by somebody else, changed again, or gone. */
  readonly stale: readonly string[];
}

/** What waits for an operator. @throws {TrustStoreUnavailableError} */
export async function readWaiting(store: TrustStore, now?: () => Date): Promise<Waiting> {
  const tools: WaitingTool[] = [];
  for (const name of await store.names()) {
    if (!name.startsWith(PIN_RECORDS)) continue;
    const record = readPinRecord(name, (await store.read(name)).value);
    if (record !== undefined) tools.push(...waitingIn(record));
  }
  const { asked } = await new Registrations(store, now).read();
  const servers = asked
    .filter(({ approvedBy, rejectedBy }) => approvedBy === undefined && rejectedBy === undefined)
    .map(({ request, agent, digest, at }) => ({ server: request.name, agent, digest, lines: describeRequest(request), at }));
  return { tools, servers };
}

function waitingIn({ server, pins, held }: PinRecord): WaitingTool[] {
  return held.map(({ name: tool, hash, reason, renamedFrom, suspicions = [], definition, at }) => {
    const before = pins.find(({ name }) => name === (renamedFrom ?? tool));
    const changes =
      definition === undefined || (before !== undefined && before.definition === undefined)
        ? ["the definition is too large to be kept, so what has changed cannot be said: read it at the server"]
        : describeChange(before?.definition, definition);
    return { server, tool, hash, reason, ...(renamedFrom === undefined ? {} : { renamedFrom }), suspicions, changes, at };
  });
}

/** Approves, as the operator `by`. Tools are offered from the next look at the store on, at most a second later. @throws {TrustStoreUnavailableError} */
export async function approve(store: TrustStore, { tools, servers }: Approval, by: string, now: () => Date = () => new Date()): Promise<ApprovalOutcome> {
  const approved: string[] = [];
  const stale: string[] = [];
  for (const server of new Set(tools.map((tool) => tool.server))) {
    const wanted = new Map(tools.filter((tool) => tool.server === server).map(({ tool, hash }) => [tool, hash]));
    const done = await approveTools(store, server, wanted, { by, at: now().toISOString() });
    for (const tool of wanted.keys()) (done.has(tool) ? approved : stale).push(`${server}: ${tool}`);
  }
  for (const { server, digest, rejectedBy } of servers) ((await new Registrations(store, now).approve(digest, by, rejectedBy)) ? approved : stale).push(server);
  return { approved, stale };
}

async function approveTools(
  store: TrustStore,
  server: string,
  wanted: ReadonlyMap<string, string>,
  stamp: { readonly by: string; readonly at: string },
): Promise<ReadonlySet<string>> {
  const name = pinRecordName(server);
  let done = new Set<string>();
  await updateRecord(store, name, (value) => {
    const record = readPinRecord(name, value);
    const fitting = (record?.held ?? []).filter((held) => wanted.get(held.name) === held.hash);
    done = new Set(fitting.map((held) => held.name));
    if (record === undefined || fitting.length === 0) return unchanged;
    const pinned = fitting.map(({ name: tool, hash, shape, definition }) => ({ name: tool, hash, shape, definition, ...stamp }));
    return { ...record, pins: [...record.pins.filter((pin) => !done.has(pin.name)), ...pinned], held: record.held.filter((held) => !done.has(held.name)) };
  });
  return done;
}
