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
  mcpTopics,
  messages,
} from "@rockbot/contracts";
import type { Lease } from "@rockbot/leases";
import type { Identity, MessageMeter } from "@rockbot/tools";
import type { BridgedServer } from "../servers/bridged-server.ts";
import type { ServerPool } from "../servers/server-pool.ts";

/** An index that could not be delivered by then is asked for again. */
const TTL_MS = 60_000;
const PUBLISH_TIMEOUT_MS = 10_000;
/** Changes within this time are told together. */
const GATHER_MS = 50;
const MAX_AGENTS = 1_000;
/** A name that may stand as a word in a topic. */
const AGENT = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_NAMED = 10;

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
  readonly log: Logger;
}

/**
 * Tells agents which servers there are, with the names of their tools: the whole index to one that asks, and to all that are known each
 * change, as the .NET original reads it, followed by the whole index, so that an agent that missed something forgets what is
 * gone. Listens for those who ask before it tells anybody. Of several replicas one tells, and all listen: whoever tells next knows whom,
 * and begins with the whole index, for those who have asked while nobody told.
 */
export async function publishIndex(
  bus: Bus,
  pool: ServerPool,
  { identity, agents: configured, canRegister, lease, meter, log }: IndexPublisherOptions,
): Promise<AsyncDisposable> {
  const startedAt = Date.now();
  const isTelling = (): boolean => lease?.isHeld ?? true;
  const agents = new Set<string>(configured);
  let sequence = 0;
  let told = new Map<string, string>();
  let gathering: NodeJS.Timeout | undefined;

  async function send(agent: string, index: McpServersIndexed): Promise<void> {
    const body = encodeMessage("McpServersIndexed", index);
    const headers = { [Header.ContentTrust]: "system" };
    try {
      const { type } = messages.McpServersIndexed;
      const envelope = createEnvelope({ topic: mcpTopics.index(agent), type, source: MCP_BRIDGE, ttlMs: TTL_MS, body, headers });
      await bus.publish(envelope, { timeoutMs: PUBLISH_TIMEOUT_MS });
    } catch (error) {
      log.debug({ agent, error: String(error) }, "index of MCP servers not sent"); // an agent asks when it starts
    }
  }

  const snapshot = (): McpServersIndexed => ({
    servers: listed(pool).map(summaryOf),
    removedServers: [],
    isSnapshot: true,
    epoch: lease?.holder?.fence ?? startedAt,
    sequence: sequence++,
    ...(canRegister ? { canRegister } : {}),
  });

  async function tellChanges(): Promise<void> {
    const now = new Map(listed(pool).map((server) => [server.name, JSON.stringify(summaryOf(server))]));
    const removed = [...told.keys()].filter((name) => !now.has(name));
    const changed = [...now].filter(([name, summary]) => told.get(name) !== summary);
    told = now;
    if (!isTelling() || (removed.length === 0 && changed.length === 0)) return;
    for (const agent of agents) {
      for (const name of removed) await send(agent, { servers: [], removedServers: [name] });
      for (const [, summary] of changed) await send(agent, { servers: [JSON.parse(summary) as McpServerSummary], removedServers: [] });
      await send(agent, snapshot());
    }
  }

  let wasTelling = isTelling();
  function takeOver(): void {
    const isFirst = isTelling() && !wasTelling;
    wasTelling = isTelling();
    if (!isFirst) return;
    log.info({ agents: agents.size }, "this bridge tells agents the index of MCP servers from now on");
    if (told.size > 0) for (const agent of agents) void send(agent, snapshot());
  }

  function know(agent: string): void {
    if (configured.includes(agent)) return;
    agents.delete(agent);
    agents.add(agent); // the newest last
    const oldest = [...agents].find((name) => !configured.includes(name));
    if (agents.size > MAX_AGENTS + configured.length && oldest !== undefined) agents.delete(oldest);
  }

  async function answer(message: Envelope): Promise<void> {
    const sender = identity.senderOf(message);
    if ("refusal" in sender || !canHear(sender.name) || !meter.admits("refresh", sender.name, message.body.byteLength)) return;
    const request = decodeMessage("McpMetadataRefreshRequest", message.body);
    if (!request.ok) return;
    const { name: agent } = sender;
    know(agent);
    const { serverName } = request.value;
    const named = serverName == null ? undefined : pool.find(serverName);
    const looked = serverName == null ? pool.servers.filter(({ health }) => health.state !== "ready") : named === undefined ? [] : [named];
    for (const server of looked) void server.refresh();
    if (isTelling()) await send(agent, snapshot());
  }

  await using started = new AsyncDisposableStack();
  started.use(await bus.subscribe({ name: `${MCP_BRIDGE}.refresh`, topics: [mcpTopics.refresh], kind: "copy" }, answer));
  started.defer(() => clearTimeout(gathering));
  const changeSoon = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      void tellChanges();
    }, GATHER_MS);
  };
  started.defer(pool.onChange(changeSoon));
  if (lease !== undefined) started.defer(lease.onChange(takeOver));
  takeOver();
  changeSoon();
  return started.move();
}

/** Servers whose tools are known: those that are connected, and those that were. */
const listed = (pool: ServerPool): readonly BridgedServer[] => pool.servers.filter(({ isHeard }) => isHeard);

function summaryOf({ name, tools }: BridgedServer): McpServerSummary {
  const toolNames = tools.map((tool) => tool.name);
  const shown = toolNames.slice(0, MAX_NAMED).join(", ");
  const summary = toolNames.length === 0 ? "Provides no tools." : `Provides ${toolNames.length} tool(s): ${shown}${toolNames.length > MAX_NAMED ? ", …" : "."}`;
  return { serverName: name, displayName: null, summary, toolCount: toolNames.length, toolNames };
}
