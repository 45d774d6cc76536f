import { describeChange } from "./pins/describe-change.ts";
import { type HeldReason, type HeldTool, PIN_RECORDS, type PinRecord, pinRecordName } from "./pins/pin.ts";
import { readPinRecord } from "./pins/read-pin-record.ts";
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
  /** The changes since it was pinned, or the words of a new one. */
  readonly changes: readonly string[];
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

/** All that waits for an operator: tools and servers. */
export interface Waiting {
  readonly tools: readonly WaitingTool[];
  readonly servers: readonly WaitingServer[];
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
}

/** The entries to approve: exactly those that the operator saw, and nothing that came in their place since. */
export interface Approval {
  readonly tools: readonly ShownTool[];
  /** Of one that was shown as rejected also by whom: what is shown as waiting, and rejected by somebody meanwhile, stays so. */
  readonly servers: readonly { readonly server: string; readonly digest: string; readonly rejectedBy?: string | undefined }[];
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
    .map(({ request, agent, digest, at }) => ({ server: request.name, agent, digest, lines: describeRequest(request), at }));
  return { tools, servers };
}

/** All definitions that are held, those that were refused too. @throws {StoreUnavailableError} */
export async function readHeld(store: TrustStore): Promise<(WaitingTool & Partial<RejectedTool>)[]> {
  const tools: (WaitingTool & Partial<RejectedTool>)[] = [];
  for (const name of await store.names()) {
    if (!name.startsWith(PIN_RECORDS)) continue;
    const record = readPinRecord(name, (await store.read(name)).value);
    if (record !== undefined) tools.push(...heldIn(record));
  }
  return tools;
}

function heldIn({ server, pins, held }: PinRecord): (WaitingTool & Partial<RejectedTool>)[] {
  return held.map(({ name: tool, hash, reason, renamedFrom, suspicions = [], definition, at, rejectedBy }) => {
    const before = pins.find(({ name }) => name === (renamedFrom ?? tool));
    const changes =
      definition === undefined || (before !== undefined && before.definition === undefined)
        ? ["the definition is too large to be kept, so what has changed cannot be said: read it at the server"]
        : describeChange(before?.definition, definition);
    return {
      server,
      tool,
      hash,
      reason,
      ...(renamedFrom === undefined ? {} : { renamedFrom }),
      suspicions,
      changes,
      at,
      ...(rejectedBy === undefined ? {} : { rejectedBy }),
    };
  });
}

/** Approves, as the operator `by`. Tools are offered from the next look at the store on, at most a second later. @throws {StoreUnavailableError} */
export async function approve(store: TrustStore, { tools, servers }: Approval, by: string, now: () => Date = () => new Date()): Promise<ApprovalOutcome> {
  const approved: string[] = [];
  const stale: string[] = [];
  const at = now().toISOString();
  for (const tool of tools) ((await approveTool(store, tool, { by, at })) ? approved : stale).push(nameOf(tool));
  for (const { server, digest, rejectedBy } of servers) ((await new Registrations(store, now).approve(digest, by, rejectedBy)) ? approved : stale).push(server);
  return { approved, stale };
}

const approveTool = (store: TrustStore, shown: ShownTool, stamp: { readonly by: string; readonly at: string }): Promise<boolean> =>
  decideHeld(store, shown, ({ pins, held, ...record }, { name, hash, shape, definition }) => ({
    ...record,
    pins: [...pins.filter((pin) => pin.name !== name), { name, hash, shape, definition, ...stamp }],
    held: held.filter((one) => one.name !== name),
  }));

/** Decides about a definition that is held as it was shown. @returns false if it is not any more */
export async function decideHeld(store: TrustStore, shown: ShownTool, decide: (record: PinRecord, held: HeldTool) => PinRecord): Promise<boolean> {
  const name = pinRecordName(shown.server);
  let isFound = false;
  await updateRecord(store, name, (value) => {
    const record = readPinRecord(name, value);
    const found = record?.held.find((held) => held.name === shown.tool && held.hash === shown.hash && held.rejectedBy === shown.rejectedBy);
    isFound = found !== undefined;
    return record === undefined || found === undefined ? unchanged : decide(record, found);
  });
  return isFound;
}

/** The name of a tool in words for operators. */
export const nameOf = ({ server, tool }: Pick<ShownTool, "server" | "tool">): string => `${server}: ${tool}`;
