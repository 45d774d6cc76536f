import { StoreUnavailableError } from "@rockbot/records";
import { pinRecordName } from "../pins/pin.ts";
import { MAX_RECORD_LENGTH, type TrustStore, unchanged, updateRecord } from "../store/trust-store.ts";
import { digestOf, type RequestedServer } from "./requested-server.ts";

/**
 * A request that waits for an operator, or that an operator has decided. After an approval the agent that asked may
 * have that very server, once; after a rejection it may not. An approval that came after a rejection counts.
 */
export interface AskedServer {
  readonly request: RequestedServer;
  readonly digest: string;
  readonly agent: string;
  /** ISO 8601. */
  readonly at: string;
  readonly approvedBy?: string | undefined;
  readonly rejectedBy?: string | undefined;
}

/** A server that an agent has registered. All bridges that share the store connect to it. */
export interface RegisteredServer {
  readonly request: RequestedServer;
  readonly digest: string;
  /** The agent that may unregister it. */
  readonly agent: string;
  readonly at: string;
  /** `the catalogue`, `an allowed host`, or the operator who approved it. */
  readonly by: string;
}

/** The servers that agents have asked for, and those that are registered. */
export interface RegistrationRecord {
  readonly asked: readonly AskedServer[];
  readonly registered: readonly RegisteredServer[];
  /**
   * Who has registered servers of whom something is pinned, also if they are registered no more. A release without this
   * lets it lapse.
   */
  readonly pinned?: readonly { readonly server: string; readonly agent: string }[] | undefined;
}

const REGISTRATIONS = "registrations";
/**
 * Requests that wait or were rejected, of one agent and of all; an agent that asks for more gets an error that says so.
 */
export const MAX_ASKED_PER_AGENT = 5;
const MAX_ASKED = 100;
const MAX_REGISTERED = 100;
/**
 * What is pinned of one server counts as this part of what an agent may have, if it is less: so names are bounded, too.
 */
const LEAST_PART = 1 / 64;
/** What one agent asks for and has registered may take this part of the record that it is in. */
const MAX_OWN_LENGTH = MAX_RECORD_LENGTH / 8;
/** A request that nobody has approved, or whose approval nobody has used, is over then, and so is a rejection. */
export const ASKED_KEPT_MS = 24 * 3_600_000;

const NONE: RegistrationRecord = { asked: [], registered: [] };

/**
 * The servers that agents have registered or asked for. They are one record, so that two bridges never give away the
 * same name, or one place too many.
 */
export class Registrations {
  readonly #store: TrustStore;
  readonly #now: () => Date;

  constructor(store: TrustStore, now: () => Date = () => new Date()) {
    this.#store = store;
    this.#now = now;
  }

  /** The decisions that hold now. @throws {StoreUnavailableError} as all methods do */
  async read(): Promise<RegistrationRecord> {
    return this.#fresh(recordOf((await this.#store.read(REGISTRATIONS)).value));
  }

  /**
   * Notes that an agent asks for a server, once however often it asks.
   * @returns "waiting" if it was noted before, "too_many" if too many others wait already
   */
  async ask(request: RequestedServer, agent: string): Promise<"new" | "waiting" | "too_many"> {
    const digest = digestOf(request);
    let outcome: "new" | "waiting" | "too_many" = "waiting";
    await this.#update((record) => {
      outcome = "waiting";
      if (record.asked.some((asked) => asked.digest === digest && asked.agent === agent)) return record;
      const own = record.asked.filter((asked) => asked.agent === agent).length;
      const asked = [...record.asked, { request, digest, agent, at: this.#now().toISOString() }];
      const hasRoom =
        own < MAX_ASKED_PER_AGENT &&
        record.asked.length < MAX_ASKED &&
        ownLength({ ...record, asked }, agent) <= MAX_OWN_LENGTH;
      outcome = hasRoom ? "new" : "too_many";
      return hasRoom ? { ...record, asked } : record;
    });
    return outcome;
  }

  /** The operator who has approved that this agent has this very server; undefined if nobody has. */
  async approvalOf(request: RequestedServer, agent: string): Promise<string | undefined> {
    const digest = digestOf(request);
    const { asked } = await this.read();
    return asked.find((one) => one.digest === digest && one.agent === agent)?.approvedBy;
  }

  /** Tells whether an operator has refused this agent this very server, or has taken it away. */
  async isRejected(request: RequestedServer, agent: string): Promise<boolean> {
    const digest = digestOf(request);
    const { asked } = await this.read();
    return asked.some((one) => one.digest === digest && one.agent === agent && isRejected(one));
  }

  /**
   * Approves what the operator was shown.
   * @param rejectedBy who had rejected what was shown: what has been rejected since, or by somebody else, is not
   * approved
   * @returns false if nobody asks for it (any more)
   */
  approve(digest: string, by: string, rejectedBy?: string): Promise<boolean> {
    return this.#decide(digest, {
      isMeant: (asked) => asked.rejectedBy === rejectedBy,
      decide: (asked) => ({ ...asked, approvedBy: by }),
    });
  }

  /**
   * Rejects what the operator was shown, also if it is approved and not used yet.
   * @returns false if nobody asks for it (any more)
   */
  reject(digest: string, by: string): Promise<boolean> {
    return this.#decide(digest, {
      isMeant: (asked) => !isRejected(asked),
      decide: ({ approvedBy: _, ...asked }) => ({ ...asked, rejectedBy: by }),
    });
  }

  /** Takes away what the operator was shown, and rejects it from now on. @returns false if nobody has it (any more) */
  async remove(digest: string, by: string): Promise<boolean> {
    let found: RegisteredServer | undefined;
    await this.#update((record) => {
      found = record.registered.find((one) => one.digest === digest);
      if (found === undefined) return record;
      const { request, agent } = found;
      const rejected = { request, digest, agent, at: this.#now().toISOString(), rejectedBy: by };
      return {
        ...record,
        asked: [...record.asked.filter((asked) => asked.digest !== digest || asked.agent !== agent), rejected],
        registered: record.registered.filter((one) => one !== found),
      };
    });
    return found !== undefined;
  }

  /**
   * Keeps a server that has been connected; an approval is used up by it. What is pinned of a server stays when it is
   * gone, so an agent that has registered as many as its share holds, registers only those again.
   */
  async register(
    request: RequestedServer,
    { agent, by, maxPerAgent }: { readonly agent: string; readonly by: string; readonly maxPerAgent: number },
  ): Promise<"registered" | "taken" | "too_many" | { readonly mostBytes: number }> {
    const digest = digestOf(request);
    const { sizes, mostPerAgent: mostBytes } = await this.#store.room();
    let outcome: "registered" | "taken" | "too_many" | { readonly mostBytes: number } = "registered";
    await this.#update((record) => {
      const { registered } = record;
      const holder = registered.find((one) => one.request.name === request.name);
      const own = registered.filter((one) => one.agent === agent).length;
      const bytesOf = (server: string): number => sizes.get(pinRecordName(server)) ?? 0;
      const holders = registered.map((one) => ({ server: one.request.name, agent: one.agent }));
      const all = new Map([...(record.pinned ?? []), ...holders].map((one) => [one.server, one]));
      const pinned = [...all.values()].filter(
        (one) => bytesOf(one.server) > 0 || holders.some(({ server }) => server === one.server),
      );
      const others = pinned.filter((one) => one.agent === agent && one.server !== request.name);
      const bytes = others.reduce((sum, { server }) => sum + Math.max(bytesOf(server), mostBytes * LEAST_PART), 0);
      const added: RegisteredServer = { request, digest, agent, at: this.#now().toISOString(), by };
      const isNew = !pinned.some(({ server }) => server === request.name);
      const isFull =
        (isNew && bytes >= mostBytes) ||
        ownLength({ ...record, registered: [...registered, added] }, agent) > MAX_OWN_LENGTH;
      outcome =
        holder !== undefined
          ? holder.agent === agent && holder.digest === digest
            ? "registered"
            : "taken"
          : own >= maxPerAgent || registered.length >= MAX_REGISTERED
            ? "too_many"
            : isFull
              ? { mostBytes }
              : "registered";
      if (outcome !== "registered" || holder !== undefined) return record;
      return {
        asked: record.asked.filter((asked) => asked.digest !== digest || asked.agent !== agent),
        registered: [...registered, added],
        pinned: isNew ? [...pinned, { server: request.name, agent }] : pinned,
      };
    });
    return outcome;
  }

  /** Forgets a server of this agent's. */
  async unregister(name: string, agent: string): Promise<"removed" | "unknown" | "not_yours"> {
    let outcome: "removed" | "unknown" | "not_yours" = "unknown";
    await this.#update((record) => {
      const found = record.registered.find(({ request }) => request.name === name);
      outcome = found === undefined ? "unknown" : found.agent === agent ? "removed" : "not_yours";
      return outcome === "removed"
        ? { ...record, registered: record.registered.filter((one) => one !== found) }
        : record;
    });
    return outcome;
  }

  async #decide(
    digest: string,
    {
      isMeant,
      decide,
    }: { readonly isMeant: (asked: AskedServer) => boolean; readonly decide: (asked: AskedServer) => AskedServer },
  ): Promise<boolean> {
    let isFound = false;
    await this.#update((record) => {
      const isDecided = (asked: AskedServer): boolean => asked.digest === digest && isMeant(asked);
      isFound = record.asked.some(isDecided);
      return isFound
        ? { ...record, asked: record.asked.map((asked) => (isDecided(asked) ? decide(asked) : asked)) }
        : record;
    });
    return isFound;
  }

  async #update(change: (record: RegistrationRecord) => RegistrationRecord): Promise<void> {
    await updateRecord(this.#store, REGISTRATIONS, (value) => {
      const before = recordOf(value);
      const pruned = this.#fresh(before);
      const after = change(pruned);
      return after === pruned && pruned.asked.length === before.asked.length ? unchanged : after;
    });
  }

  #fresh({ asked, ...record }: RegistrationRecord): RegistrationRecord {
    const since = this.#now().getTime() - ASKED_KEPT_MS;
    return { ...record, asked: asked.filter(({ at }) => Date.parse(at) > since) };
  }
}

export const isRejected = ({ approvedBy, rejectedBy }: AskedServer): boolean =>
  rejectedBy !== undefined && approvedBy === undefined;

const ownLength = ({ asked, registered }: RegistrationRecord, agent: string): number =>
  JSON.stringify([...asked, ...registered].filter((one) => one.agent === agent)).length;

/** People may have written it: what is no registration is not taken for one, nor for none. */
function recordOf(value: unknown): RegistrationRecord {
  if (value === undefined) return NONE;
  const { asked, registered, pinned } = (typeof value === "object" && value !== null ? value : {}) as {
    readonly [Key in keyof RegistrationRecord]?: unknown;
  };
  if (!Array.isArray(asked) || !Array.isArray(registered) || ![...asked, ...registered].every(isEntry))
    throw new StoreUnavailableError(`Cannot read the record "${REGISTRATIONS}": it is not a record of registrations`);
  const isPinned = (one: unknown): boolean =>
    typeof one === "object" && one !== null && "server" in one && "agent" in one;
  return {
    asked: asked as AskedServer[],
    registered: registered as RegisteredServer[],
    ...(Array.isArray(pinned) ? { pinned: pinned.filter(isPinned) } : {}),
  };
}

/** An approval is for the entry of its digest: an entry that says something else by now has none. */
function isEntry(value: unknown): boolean {
  const { request, digest, agent, at } = (
    typeof value === "object" && value !== null ? value : {}
  ) as Partial<AskedServer>;
  const isRequest =
    typeof request?.name === "string" && typeof request.address === "object" && request.address !== null;
  return isRequest && digest === digestOf(request) && typeof agent === "string" && typeof at === "string";
}
