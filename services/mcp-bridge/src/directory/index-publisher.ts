import type { Bus, Logger } from "@rockbot/bus";
import {
  createEnvelope,
  decodeMessage,
  type Envelope,
  encodeMessage,
  Header,
  MCP_BRIDGE,
  type McpServerSummary,
  type McpServersIndexed,
  mcpServerSummary,
  mcpTopics,
  messages,
} from "@rockbot/contracts";
import type { Lease } from "@rockbot/records/leases";
import { type Identity, METERED, type MessageMeter } from "@rockbot/tools";
import type { BridgedServer } from "../bridged-server.ts";
import type { ServerPool } from "../servers/server-pool.ts";
import type { ToldTools } from "./told-tools.ts";

/** An index that could not be delivered by then is asked for again. */
const TTL_MS = 60_000;
const PUBLISH_TIMEOUT_MS = 10_000;
/** Changes within this time go out together. */
const GATHER_MS = 50;
const MAX_AGENTS = 1_000;
/** A name that may stand as a word in a topic. */
const AGENT = /^[A-Za-z0-9_-]{1,64}$/;

type ListedServer = Pick<BridgedServer, "name" | "tools">;

/** True if the agent has a topic of its own for the index. */
const canHear = (agent: string): boolean => AGENT.test(agent) && mcpTopics.index(agent) !== mcpTopics.refresh;

export interface IndexPublisherOptions {
  readonly identity: Pick<Identity, "senderOf">;
  /** Agents that get every change, beside those that have asked. */
  readonly agents: readonly string[];
  /** True if agents may ask for further servers. */
  readonly canRegister: boolean;
  /** The right to tell, of which several replicas have one. @default this process tells */
  readonly lease?: Pick<Lease, "isHeld" | "holder" | "onChange"> | undefined;
  readonly meter: Pick<MessageMeter, "admits">;
  readonly tools: ToldTools;
  /** Calls `listener` when the visible tools may have changed, until the returned function is called. */
  readonly onPolicyChange?: ((listener: () => void) => () => void) | undefined;
  readonly log: Logger;
}

/**
 * Tells agents which servers there are, with the names of those of their tools that each may use: the whole index to
 * one that asks, and to all that are known each change, as the .NET original reads it, followed by the whole index, so
 * that an agent that missed something forgets what is gone. Listens for those who ask before it tells anybody. Several
 * replicas listen, and one of them publishes: a new one knows the askers, and begins with the whole index, for those
 * who asked in between.
 */
export async function publishIndex(
  bus: Bus,
  pool: ServerPool,
  options: IndexPublisherOptions,
): Promise<AsyncDisposable> {
  const { lease, onPolicyChange } = options;
  const publisher = new IndexPublisher(bus, pool, options);
  let gathering: NodeJS.Timeout | undefined;
  await using started = new AsyncDisposableStack();
  const refresh = { name: `${MCP_BRIDGE}.refresh`, topics: [mcpTopics.refresh], kind: "copy", ...METERED } as const;
  started.use(await bus.subscribe(refresh, (message) => publisher.answer(message)));
  started.defer(() => clearTimeout(gathering));
  const changeSoon = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      void publisher.tellChanges();
    }, GATHER_MS);
  };
  started.defer(pool.onChange(changeSoon));
  if (lease !== undefined) started.defer(lease.onChange(() => publisher.takeOver()));
  if (onPolicyChange !== undefined) started.defer(onPolicyChange(() => publisher.tellAgain()));
  publisher.takeOver();
  changeSoon();
  return started.move();
}

class IndexPublisher {
  readonly #bus: Bus;
  readonly #pool: ServerPool;
  readonly #options: IndexPublisherOptions;
  readonly #startedAt = Date.now();
  /** By name, each with the caller that it is. */
  readonly #agents: Map<string, string>;
  #sequence = 0;
  #told = new Map<string, ListedServer>();
  #wasTelling: boolean;

  constructor(bus: Bus, pool: ServerPool, options: IndexPublisherOptions) {
    this.#bus = bus;
    this.#pool = pool;
    this.#options = options;
    this.#agents = new Map(options.agents.map((agent) => [agent, agent]));
    this.#wasTelling = this.#isTelling();
  }

  async answer(message: Envelope): Promise<void> {
    const sender = this.#options.identity.senderOf(message);
    if (
      "refusal" in sender ||
      !canHear(sender.name) ||
      !this.#options.meter.admits("refresh", sender.name, message.body.byteLength)
    )
      return;
    const request = decodeMessage("McpMetadataRefreshRequest", message.body);
    if (!request.ok) return;
    const { name: agent, caller } = sender;
    this.#know(agent, caller);
    const { serverName } = request.value;
    const named = serverName == null ? undefined : this.#pool.find(serverName);
    const looked =
      serverName == null
        ? this.#pool.servers.filter(({ health }) => health.state !== "ready")
        : named === undefined
          ? []
          : [named];
    for (const server of looked) void server.refresh();
    if (this.#isTelling()) await this.#send(agent, this.#snapshot(agent));
  }

  async tellChanges(): Promise<void> {
    const before = this.#told;
    this.#told = new Map(listed(this.#pool).map(({ name, tools }) => [name, { name, tools }]));
    const removed = [...before.values()].filter(({ name }) => !this.#told.has(name));
    const changed = [...this.#told.values()].filter((server) => namesOf(before.get(server.name)) !== namesOf(server));
    if (!this.#isTelling() || (removed.length === 0 && changed.length === 0)) return;
    for (const agent of this.#agents.keys()) {
      for (const server of removed)
        if (this.#summaryFor(agent, server) !== undefined)
          await this.#send(agent, { servers: [], removedServers: [server.name] });
      for (const server of changed) {
        const summary = this.#summaryFor(agent, server);
        if (summary !== undefined) await this.#send(agent, { servers: [summary], removedServers: [] });
      }
      await this.#send(agent, this.#snapshot(agent));
    }
  }

  takeOver(): void {
    const isFirst = this.#isTelling() && !this.#wasTelling;
    this.#wasTelling = this.#isTelling();
    if (!isFirst) return;
    this.#options.log.info({ agents: this.#agents.size }, "this bridge now sends agents the index of MCP servers");
    if (this.#told.size > 0) this.#tellAll();
  }

  /** Publishes the index anew, as the visible tools have changed. */
  tellAgain(): void {
    if (this.#isTelling() && this.#told.size > 0) this.#tellAll();
  }

  #isTelling(): boolean {
    return this.#options.lease?.isHeld ?? true;
  }

  #tellAll(): void {
    for (const agent of this.#agents.keys()) void this.#send(agent, this.#snapshot(agent));
  }

  #know(agent: string, caller: string): void {
    if (this.#options.agents.includes(agent)) return void this.#agents.set(agent, caller);
    this.#agents.delete(agent);
    this.#agents.set(agent, caller); // the newest last
    const oldest = [...this.#agents.keys()].find((name) => !this.#options.agents.includes(name));
    if (this.#agents.size > MAX_AGENTS + this.#options.agents.length && oldest !== undefined)
      this.#agents.delete(oldest);
  }

  #snapshot(agent: string): McpServersIndexed {
    return {
      servers: listed(this.#pool).flatMap((server) => this.#summaryFor(agent, server) ?? []),
      removedServers: [],
      isSnapshot: true,
      epoch: this.#options.lease?.holder?.fence ?? this.#startedAt,
      sequence: this.#sequence++,
      ...(this.#options.canRegister ? { canRegister: true } : {}),
    };
  }

  #summaryFor(agent: string, server: ListedServer): McpServerSummary | undefined {
    const usable = this.#options.tools({ name: agent, caller: this.#agents.get(agent) ?? agent }, server);
    // A server that has tools, and none for the agent, is not there for it.
    if (usable.length === 0 && server.tools.length > 0) return undefined;
    return mcpServerSummary(
      server.name,
      usable.map(({ name }) => name),
    );
  }

  async #send(agent: string, index: McpServersIndexed): Promise<void> {
    const body = encodeMessage("McpServersIndexed", index);
    const headers = { [Header.ContentTrust]: "system" };
    try {
      const { type } = messages.McpServersIndexed;
      const envelope = createEnvelope({
        topic: mcpTopics.index(agent),
        type,
        source: MCP_BRIDGE,
        ttlMs: TTL_MS,
        body,
        headers,
      });
      await this.#bus.publish(envelope, { timeoutMs: PUBLISH_TIMEOUT_MS });
    } catch (error) {
      this.#options.log.debug({ agent, error: String(error) }, "could not send the index of MCP servers"); // an agent asks when it starts
    }
  }
}

/** Servers whose tools are known: those that are connected, and those that were. */
const listed = (pool: ServerPool): readonly BridgedServer[] => pool.servers.filter(({ isHeard }) => isHeard);

const namesOf = (server: ListedServer | undefined): string | undefined => server?.tools.map(({ name }) => name).join();
