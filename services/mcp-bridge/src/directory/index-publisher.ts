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
import type { BridgedServer } from "../servers/bridged-server.ts";
import type { ServerPool } from "../servers/server-pool.ts";
import type { ToldTools } from "./told-tools.ts";

/** An index that could not be delivered by then is asked for again. */
const TTL_MS = 60_000;
const PUBLISH_TIMEOUT_MS = 10_000;
/** Changes within this time are told together. */
const GATHER_MS = 50;
const MAX_AGENTS = 1_000;
/** A name that may stand as a word in a topic. */
const AGENT = /^[A-Za-z0-9_-]{1,64}$/;

type ListedServer = Pick<BridgedServer, "name" | "tools">;

/** Whether the agent has a topic of its own for the index. */
const canHear = (agent: string): boolean => AGENT.test(agent) && mcpTopics.index(agent) !== mcpTopics.refresh;

export interface IndexPublisherOptions {
  readonly identity: Pick<Identity, "senderOf">;
  /** Agents that are told of every change, beside those that have asked. */
  readonly agents: readonly string[];
  /** Whether agents may ask for further servers. */
  readonly canRegister: boolean;
  /** The right to tell, of which several replicas have one. @default this process tells */
  readonly lease?: Pick<Lease, "isHeld" | "holder" | "onChange"> | undefined;
  readonly meter: Pick<MessageMeter, "admits">;
  readonly tools: ToldTools;
  /** Calls `listener` when other tools may be told, until the returned function is called. */
  readonly onPolicyChange?: ((listener: () => void) => () => void) | undefined;
  readonly log: Logger;
}

/**
 * Tells agents which servers there are, with the names of those of their tools that each may use: the whole index to one that asks, and to all that are known each
 * change, as the .NET original reads it, followed by the whole index, so that an agent that missed something forgets what is
 * gone. Listens for those who ask before it tells anybody. Of several replicas one tells, and all listen: whoever tells next knows whom,
 * and begins with the whole index, for those who have asked while nobody told.
 */
export async function publishIndex(
  bus: Bus,
  pool: ServerPool,
  { identity, agents: configured, canRegister, lease, meter, tools, onPolicyChange, log }: IndexPublisherOptions,
): Promise<AsyncDisposable> {
  const startedAt = Date.now();
  const isTelling = (): boolean => lease?.isHeld ?? true;
  /** By name, each with the caller that it is. */
  const agents = new Map<string, string>(configured.map((agent) => [agent, agent]));
  let sequence = 0;
  let told = new Map<string, ListedServer>();
  let gathering: NodeJS.Timeout | undefined;

  async function send(agent: string, index: McpServersIndexed): Promise<void> {
    const body = encodeMessage("McpServersIndexed", index);
    const headers = { [Header.ContentTrust]: "system" };
    try {
      const { type } = messages.McpServersIndexed;
      const envelope = createEnvelope({ topic: mcpTopics.index(agent), type, source: MCP_BRIDGE, ttlMs: TTL_MS, body, headers });
      await bus.publish(envelope, { timeoutMs: PUBLISH_TIMEOUT_MS });
    } catch (error) {
      log.debug({ agent, error: String(error) }, "could not send the index of MCP servers"); // an agent asks when it starts
    }
  }

  function summaryFor(agent: string, server: ListedServer): McpServerSummary | undefined {
    const usable = tools({ name: agent, caller: agents.get(agent) ?? agent }, server);
    // A server that has tools, and none for the agent, is not there for it.
    if (usable.length === 0 && server.tools.length > 0) return undefined;
    return mcpServerSummary(
      server.name,
      usable.map(({ name }) => name),
    );
  }

  const snapshot = (agent: string): McpServersIndexed => ({
    servers: listed(pool).flatMap((server) => summaryFor(agent, server) ?? []),
    removedServers: [],
    isSnapshot: true,
    epoch: lease?.holder?.fence ?? startedAt,
    sequence: sequence++,
    ...(canRegister ? { canRegister } : {}),
  });

  async function tellChanges(): Promise<void> {
    const before = told;
    told = new Map(listed(pool).map(({ name, tools }) => [name, { name, tools }]));
    const removed = [...before.values()].filter(({ name }) => !told.has(name));
    const changed = [...told.values()].filter((server) => namesOf(before.get(server.name)) !== namesOf(server));
    if (!isTelling() || (removed.length === 0 && changed.length === 0)) return;
    for (const agent of agents.keys()) {
      for (const server of removed) if (summaryFor(agent, server) !== undefined) await send(agent, { servers: [], removedServers: [server.name] });
      for (const server of changed) {
        const summary = summaryFor(agent, server);
        if (summary !== undefined) await send(agent, { servers: [summary], removedServers: [] });
      }
      await send(agent, snapshot(agent));
    }
  }

  function tellAll(): void {
    for (const agent of agents.keys()) void send(agent, snapshot(agent));
  }

  let wasTelling = isTelling();
  function takeOver(): void {
    const isFirst = isTelling() && !wasTelling;
    wasTelling = isTelling();
    if (!isFirst) return;
    log.info({ agents: agents.size }, "this bridge now sends agents the index of MCP servers");
    if (told.size > 0) tellAll();
  }

  function know(agent: string, caller: string): void {
    if (configured.includes(agent)) return void agents.set(agent, caller);
    agents.delete(agent);
    agents.set(agent, caller); // the newest last
    const oldest = [...agents.keys()].find((name) => !configured.includes(name));
    if (agents.size > MAX_AGENTS + configured.length && oldest !== undefined) agents.delete(oldest);
  }

  async function answer(message: Envelope): Promise<void> {
    const sender = identity.senderOf(message);
    if ("refusal" in sender || !canHear(sender.name) || !meter.admits("refresh", sender.name, message.body.byteLength)) return;
    const request = decodeMessage("McpMetadataRefreshRequest", message.body);
    if (!request.ok) return;
    const { name: agent, caller } = sender;
    know(agent, caller);
    const { serverName } = request.value;
    const named = serverName == null ? undefined : pool.find(serverName);
    const looked = serverName == null ? pool.servers.filter(({ health }) => health.state !== "ready") : named === undefined ? [] : [named];
    for (const server of looked) void server.refresh();
    if (isTelling()) await send(agent, snapshot(agent));
  }

  await using started = new AsyncDisposableStack();
  started.use(await bus.subscribe({ name: `${MCP_BRIDGE}.refresh`, topics: [mcpTopics.refresh], kind: "copy", ...METERED }, answer));
  started.defer(() => clearTimeout(gathering));
  const changeSoon = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      void tellChanges();
    }, GATHER_MS);
  };
  started.defer(pool.onChange(changeSoon));
  if (lease !== undefined) started.defer(lease.onChange(takeOver));
  const retell = (): void => {
    if (isTelling() && told.size > 0) tellAll();
  };
  if (onPolicyChange !== undefined) started.defer(onPolicyChange(retell));
  takeOver();
  changeSoon();
  return started.move();
}

/** Servers whose tools are known: those that are connected, and those that were. */
const listed = (pool: ServerPool): readonly BridgedServer[] => pool.servers.filter(({ isHeard }) => isHeard);

const namesOf = (server: ListedServer | undefined): string | undefined => server?.tools.map(({ name }) => name).join();
