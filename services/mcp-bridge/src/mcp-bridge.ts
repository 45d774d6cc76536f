import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { MCP_BRIDGE, mcpTopics, printable } from "@rockbot/contracts";
import { endOrphans, type McpServerHealth } from "@rockbot/mcp";
import { Lease, type LeaseStore } from "@rockbot/records/leases";
import { createMemoryRateStore } from "@rockbot/records/rates";
import {
  createIdentity,
  createPolicyTurns,
  MessageMeter,
  type ServeToolsOptions,
  type StartServiceOptions,
  serveTools,
} from "@rockbot/tools";
import {
  approvalCommands,
  createToolApprovals,
  followStore,
  isOthersPin,
  type OperatorApprovals,
  openTrust,
  readRegistered,
  removeServers,
  type ToolApprovalsOptions,
  type TrustStore,
} from "@rockbot/trust";
import type { BridgedServer, BridgedServerOptions } from "./bridged-server.ts";
import { publishIndex } from "./directory/index-publisher.ts";
import { manageServers } from "./directory/manage-servers.ts";
import { toldTools } from "./directory/told-tools.ts";
import type { McpBridgeConfig } from "./generated/config.ts";
import { ServerRegistrar } from "./registration/server-registrar.ts";
import { ServerRequests } from "./registration/server-requests.ts";
import { ServerSources } from "./registration/server-sources.ts";
import { observeServers } from "./server-metrics.ts";
import type { ServerFile } from "./servers/read-servers.ts";
import { ServerPool } from "./servers/server-pool.ts";
import { watchServers } from "./servers/watch-servers.ts";
import { replicaName } from "./stateful/replica-name.ts";
import { startStatefulServers } from "./stateful/stateful-servers.ts";
import { McpToolProvider } from "./tools/mcp-tool-provider.ts";
import { ToolTrust } from "./trust/tool-trust.ts";

/**
 * The parts of the process that a bridge uses. Its name and its topic are those of the contract, as callers know them,
 * too.
 */
export interface StartMcpBridgeOptions extends Omit<StartServiceOptions, "service" | "topic"> {
  /** The variables that `${NAME}` in the file stands for. Servers get PATH and the like from them, too. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Says which of several replicas tells agents the index, and which has a server with state.
   * @default this process, and each one for itself
   */
  readonly leases?: LeaseStore | undefined;
  /**
   * Where it is kept what is approved of servers. Shared by all bridges.
   * @default the file `mcpLockFile`, or the memory of this process
   */
  readonly trustStore?: TrustStore | undefined;
}

/** A running bridge. Disposal ends its servers after their calls. */
export interface McpBridge extends AsyncDisposable {
  /** The tools that wait for an operator. */
  readonly off: readonly { readonly tool: string; readonly reason: string }[];
  /** How each server stands now. */
  readonly servers: readonly BridgedServerHealth[];
  /** What the file of servers says that has no effect. */
  readonly notes: readonly string[];
  /** For operators, who come by a socket or a token, or give a signed command. */
  readonly approvals: OperatorApprovals;
  /**
   * Resolves once each server is connected or has failed for the first time, at most `ms` milliseconds later. The tools
   * that are there by then are announced to callers that probe.
   */
  settled(ms: number): Promise<void>;
}

/** The state of one MCP server of a bridge, for operators. */
export interface BridgedServerHealth extends McpServerHealth {
  /** Tools that wait for an operator's approval. */
  readonly held: number;
  /**
   * The replica that has a server with state, by its name, and whether it is this one; undefined of others, and while
   * nobody has it.
   */
  readonly owner?: { readonly replica: string; readonly isThis: boolean } | undefined;
}

const MAX_REASON = 400;

/**
 * Puts MCP servers behind the bus: their tools are announced as `{server}__{tool}`, called through `tool.invoke.mcp`,
 * and described on `mcp.manage` and `tool.meta.mcp.{agent}`. Resolves once calls are taken; servers connect by
 * themselves, and their tools are announced as they do. Disposal waits for running calls, at most `shutdownGraceMs`,
 * then ends the servers.
 * @throws {ConfigError} if the file of servers has faults
 */
// Long because: it composes the parts of the bridge in the order in which one needs the other
export async function startMcpBridge(
  bus: Bus,
  config: Readonly<McpBridgeConfig>,
  {
    env,
    audit,
    log = silentLogger,
    policy,
    blobs,
    files,
    claims,
    leases,
    operatorKey,
    rates: sharedRates,
    runs,
    trustStore,
    signal,
  }: StartMcpBridgeOptions,
): Promise<McpBridge> {
  const { mcpConfig, mcpLockFile, pin, agents, initConcurrency, shutdownGraceMs } = config;
  signal?.throwIfAborted();
  await using started = new AsyncDisposableStack();
  const identity = createIdentity(bus, policy);
  const instance = replicaName();
  const meter = new MessageMeter({ policy, log });
  await endOrphans({ log });
  const stateful =
    leases === undefined
      ? undefined
      : started.use(await startStatefulServers(bus, { leases, instance, identity, drainMs: shutdownGraceMs, log }));
  const kept = started.use(
    openTrust({ shared: trustStore, lockFile: mcpLockFile, onMemory: () => pin !== "off" && warnOfMemory(log) }),
  );
  const { store } = kept;
  const trust = started.use(new ToolTrust({ ...kept, pin, log }));
  const pool = started.use(new ServerPool({ initConcurrency, drainMs: shutdownGraceMs, stateful, trust, log }));
  if (mcpConfig === undefined) log.warn({}, "there are no MCP servers. Set MCP_CONFIG to a file that names them");
  const sources = new ServerSources(pool);
  let catalogue: readonly BridgedServerOptions[] = [];
  let notes: readonly string[] = [];
  const registrar = new ServerRegistrar(config, { store, pool, sources, trust, catalogue: () => catalogue, env, log });
  const takeIn = () => registrar.sync().then(() => pool.screenAgain());
  let isFirst = true;
  /** What went while no bridge ran waits for nobody. Once: bridges of other servers may share the store. */
  const takeInChanges = async (): Promise<void> => {
    await takeIn();
    if (isFirst) await trust.forgetOthers(pool.servers.map(({ name }) => name));
    isFirst = false;
  };
  if (mcpConfig !== undefined) {
    const applyFile = (content: ServerFile): void => {
      catalogue = content.catalogue;
      notes = content.warnings.map((words) => `${mcpConfig}: ${words}`);
      pool.tracesAll = content.tracesAll;
      sources.apply(content.servers);
      void registrar
        .sync()
        .catch((error: unknown) =>
          log.warn({ reason: String(error) }, "could not read which servers agents have registered"),
        );
    };
    started.use(watchServers(mcpConfig, applyFile, { env, log }));
  }
  started.use(observeServers(pool));
  const tools = toldTools(policy);
  const rates = sharedRates ?? started.use(createMemoryRateStore());
  const turns = createPolicyTurns();
  const requests = new ServerRequests({ registrar, identity, policy, rates, turns, audit, log });
  started.use(await manageServers(bus, pool, { identity, requests, meter, tools, log }));
  const lease = leases === undefined ? undefined : started.use(new Lease(leases, "index", { owner: instance }));
  started.use(
    await publishIndex(bus, pool, {
      identity,
      agents,
      canRegister: registrar.isOpen,
      lease,
      meter,
      tools,
      onPolicyChange: policy?.onChange,
      log,
    }),
  );
  started.use(followStore(store, { onChange: takeInChanges, isBehind: () => trust.isBlind }));
  const provider = new McpToolProvider(pool, trust);
  const approvals = bridgeApprovals(store, { takeIn, sources: () => pool.servers.map(stateIn(trust)), log });
  const commands = approvalCommands(approvals);
  const shared = { blobs, files, policy, claims, rates, runs, turns, audit, operatorKey, commands, log };
  started.use(await serveProvider(bus, provider, config, shared));
  if (stateful !== undefined) started.defer(() => stateful.beginDrain());
  const running = started.move();
  return {
    get off() {
      return pool.servers.flatMap(({ name }) => heldTools(name, trust));
    },
    get servers() {
      return pool.servers.map((server) => healthOf(server, { trust, instance }));
    },
    get notes() {
      return notes;
    },
    approvals,
    async settled(ms) {
      await pool.settled(ms);
      provider.flush();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function serveProvider(
  bus: Bus,
  provider: McpToolProvider,
  { concurrency, shutdownGraceMs: drainMs, auditRequired: isAuditRequired }: Readonly<McpBridgeConfig>,
  shared: Pick<
    ServeToolsOptions,
    "blobs" | "files" | "policy" | "claims" | "rates" | "runs" | "turns" | "audit" | "operatorKey" | "commands" | "log"
  >,
): ReturnType<typeof serveTools> {
  return serveTools(bus, provider, {
    service: MCP_BRIDGE,
    topic: mcpTopics.invoke,
    provider: "mcp",
    concurrency,
    drainMs,
    isAuditRequired,
    ...shared,
  });
}

/** @param takeIn has the bridge go by what has just been decided */
function bridgeApprovals(
  store: TrustStore,
  { takeIn, sources, log }: Omit<ToolApprovalsOptions, "owns">,
): OperatorApprovals {
  return {
    ...createToolApprovals(store, { log, takeIn, sources, owns: (server) => !isOthersPin(server) }),
    registered: () => readRegistered(store),
    async remove(servers, by) {
      const outcome = await removeServers(store, servers, by);
      log.info({ operator: by, ...outcome }, "an operator removed registered servers");
      await takeIn?.();
      return outcome;
    },
  };
}

/** How a server stands, without what its program wrote, which may hold anything. */
const stateIn =
  (trust: ToolTrust) =>
  ({ name, health: { state, tools, failures, lastFailure = "" } }: Pick<BridgedServer, "name" | "health">) => ({
    kind: "mcp" as const,
    server: name,
    state,
    ...(failures === 0 ? {} : { reason: printable(lastFailure.split("\n", 1)[0] ?? "", MAX_REASON) }),
    tools,
    held: trust.waitingOn(name).length,
  });

const heldTools = (server: string, trust: ToolTrust): McpBridge["off"] =>
  trust
    .heldAs(server)
    .filter(({ reason }) => reason === "not_approved")
    .map(({ name }) => ({
      tool: name,
      reason: `Held until an operator approves: rockbot mcp approve ${JSON.stringify(server)}`,
    }));

function healthOf(
  { name, health, owner: replica }: Pick<BridgedServer, "name" | "health" | "owner">,
  { trust, instance }: { readonly trust: ToolTrust; readonly instance: string },
): BridgedServerHealth {
  return {
    ...health,
    held: trust.waitingOn(name).length,
    ...(replica === undefined ? {} : { owner: { replica, isThis: replica === instance } }),
  };
}

const warnOfMemory = (log: Logger): void =>
  log.warn(
    {},
    "only this process knows which MCP tools are approved, and forgets it at a restart. Set REDIS_URL or MCP_LOCK_FILE",
  );
