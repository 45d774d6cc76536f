import type { KeyObject } from "node:crypto";
import type { TaskStore } from "@rockbot/a2a/serve";
import { startLoop } from "@rockbot/base";
import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { consoleFiles as builtConsole } from "@rockbot/console/files";
import { urlHost } from "@rockbot/edge/inbound";
import { mayHearBridge, offerMcpTools } from "@rockbot/mcp/for-agents";
import type { EndpointLoad, SharedSessions } from "@rockbot/mcp/serve";
import { callerTokens, type PolicyHolder } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import type { BlobStore } from "@rockbot/records/blobs";
import type { FigureStore } from "@rockbot/records/figures";
import type { FileStore } from "@rockbot/records/files";
import type { JournalStore } from "@rockbot/records/journal";
import type { LeaseStore } from "@rockbot/records/leases";
import type { RunStore } from "@rockbot/runs";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { createCommander, readCommandKey } from "@rockbot/tools/commands";
import type { OperatorApprovals } from "@rockbot/trust";
import type { ServeA2aOptions, ServedA2a } from "./a2a/serve-a2a.ts";
import { createApprovalsApp, MCP_PATH } from "./approvals/approvals-app.ts";
import { commandApprovals } from "./approvals/command-approvals.ts";
import { AUDIT_PATH, createAuditApp } from "./audit/audit-app.ts";
import { type AuditLogs, createAuditLogs } from "./audit/audit-logs.ts";
import { RunningKeys } from "./calls/running-keys.ts";
import { CONSOLE_PATH } from "./console/console-path.ts";
import { DLQ_PATH } from "./dlq/dlq-app.ts";
import { type LetterAccess, LetterDesk } from "./dlq/letter-desk.ts";
import { RefusalLog } from "./door/refusal-log.ts";
import { ServiceFigures } from "./figures/service-figures.ts";
import { SharedFigures } from "./figures/shared-figures.ts";
import { connectionsOf, createGatewayApp } from "./gateway-app.ts";
import type { GatewayConfig } from "./generated/config.ts";
import { type HttpApp, serveHttp } from "./http/http-server.ts";
import { isLoopback } from "./is-loopback.ts";
import { GatewayEndpoint } from "./mcp/gateway-endpoint.ts";
import { ownRuns } from "./mcp/own-runs.ts";
import { hasOperators } from "./operators/authenticate-operator.ts";
import type { LocalOperator } from "./operators/local-operator.ts";
import type { OperatorHttpApp } from "./operators/operator.ts";
import { AGENTS_PATH, agentReader, createAgentsApp, type ReadAgent } from "./operators/operator-agents.ts";
import { CALLS_PATH, createCallsApp } from "./operators/operator-calls.ts";
import { createHistoryApp, HISTORY_PATH } from "./operators/operator-history.ts";
import { withKeptArguments } from "./operators/operator-kept.ts";
import { createOverviewApp, OVERVIEW_PATH } from "./operators/operator-overview.ts";
import { createPolicyApp, POLICY_PATH } from "./operators/operator-policy.ts";
import { operatorRoutes } from "./operators/operator-routes.ts";
import { createToolsApp, TOOLS_PATH } from "./operators/operator-tools.ts";
import { SessionHub } from "./sessions/session-hub.ts";
import { createWaitingApp, WAITING_PATH } from "./waiting/waiting-app.ts";
import { servicesWithRuns, WaitingCalls } from "./waiting/waiting-calls.ts";

/** The parts of the process that a gateway uses. */
// Many because: each is a part of the process around it, and all have a default.
export interface StartGatewayOptions {
  readonly log?: Logger | undefined;
  /** The settings as they are now, for their token. @default they stay as they are */
  readonly current?: (() => Readonly<GatewayConfig>) | undefined;
  /** Where requests and calls that are refused here leave a line. @default nowhere: they are logged and counted only */
  readonly audit?: AuditLog | undefined;
  /** Where services leave results that are too large for the bus. @default such results are refused */
  readonly blobs?: BlobStore | undefined;
  /** The files of callers, which calls name. @default there are none */
  readonly files?: FileStore | undefined;
  /** Where the journal of calls outlives this process. @default nowhere */
  readonly journals?: JournalStore | undefined;
  /** Where other gateways find the sessions of MCP clients. @default each gateway has its own */
  readonly mcpSessions?: SharedSessions | undefined;
  /** Where tasks of A2A clients outlive this process. @default nowhere */
  readonly tasks?: TaskStore | undefined;
  /** The runs of all services, to be read: calls that wait for people, or run detached. @default none are known */
  readonly runs?: RunStore | undefined;
  /** Where gateways see which notices others have sent, and which signed decisions they had. @default each has its own */
  readonly webhookNotes?: LeaseStore | undefined;
  /** Where gateways share the minutes of the last day. @default each has what it has heard itself */
  readonly figureStore?: FigureStore | undefined;
  /** Whose tokens say who calls, and what each may use. @default the gateway's agent calls, and all is listed */
  readonly policy?: PolicyHolder | undefined;
  /** Makes what operators reach by their tokens. @default the calls made here, and what the policy says */
  readonly operator?: ((parts: OperatorParts) => OperatorHttpApp) | undefined;
  /** The journals of all callers in this process. @default its own */
  readonly allJournals?: (() => readonly ToolCaller["journal"][]) | undefined;
  /** A further operator, for this process's life. @default those of the policy only */
  readonly localOperator?: LocalOperator | undefined;
  /** The way to dead letters by a user of its own. @default they are not reached */
  readonly letters?: LetterAccess | undefined;
  /** The key that signs commands to services. @default that of the settings, if they have one */
  readonly commandKey?: KeyObject | undefined;
  /** The folder of the console's page. @default the one that was built, if any was */
  readonly consoleFiles?: string | undefined;
  /** Aborts when running requests are not waited for any longer, though the gateway is being disposed of. */
  readonly signal?: AbortSignal | undefined;
}

/** The parts that the operators' routes of a gateway use. */
export interface OperatorParts {
  readonly bus: Bus;
  readonly caller: ToolCaller;
  readonly policy: PolicyHolder;
  /** Answers for dead letters. */
  readonly letters: Pick<LetterDesk, "fetch" | "services">;
  readonly figures: ServiceFigures;
  /** Gives the decisions of an operator about tools and servers of strangers, in all services. */
  readonly approvals: (operator: string) => OperatorApprovals;
  /** Reads the calls that wait for people, and brings decisions. */
  readonly waiting: WaitingCalls;
  /** The runs of all services, to be read. */
  readonly runs: RunStore | undefined;
  /** Reads what the agent keeps. */
  readonly readAgent: ReadAgent;
  /** Reads the audit logs of all services. */
  readonly audits: AuditLogs;
  readonly log: Logger;
  /** Aborts when the process stops and running requests are not waited for any longer. */
  readonly signal: AbortSignal;
}

/** A gateway that listens. Disposal lets running requests end. */
export interface Gateway extends AsyncDisposable {
  /** Where it listens, such as http://127.0.0.1:8480. */
  readonly url: string;
  /** The callers that are let in at its start; tokens may come and go with the policy. */
  readonly access: GatewayAccess;
  /** Why no requests should come now, in words; empty if they may. */
  notReady(): readonly string[];
  /** Where its console is; undefined if there is none. */
  readonly consoleUrl: string | undefined;
  /** The journal of the calls made here. */
  readonly journal: ToolCaller["journal"];
  /** What services say of their calls. */
  readonly figures: ServiceFigures;
  /** How many MCP clients are known or listen. */
  readonly mcpLoad: EndpointLoad;
}

/** How often it is looked at what services say of their calls. They say it each second. */
const FIGURES_MS = 1_000;

type GatewayAccess = "open to this machine" | "by the gateway's token" | "by the policy's tokens";

/**
 * Starts the front door: HTTP in, tool calls on the bus out. Disposal answers what runs, up to `shutdownGraceMs`. The
 * configuration is one that `check` of its settings has seen, else others might reach it without a token.
 */
// Long because: it is the list of the parts, in the order in which they start
export async function startGateway(
  bus: Bus,
  config: Readonly<GatewayConfig>,
  options: StartGatewayOptions = {},
): Promise<Gateway> {
  const {
    log = silentLogger,
    current = () => config,
    audit,
    blobs,
    files,
    journals,
    mcpSessions,
    tasks,
    runs,
    webhookNotes,
    figureStore,
    policy,
    operator = callsAndPolicy,
    localOperator,
    allJournals,
    letters: letterAccess,
    commandKey = keyOf(config),
    consoleFiles = builtConsole(),
    signal,
  } = options;
  const {
    host,
    gatewayToken,
    allowedHosts,
    allowedOrigins,
    agentName,
    instance,
    callTimeoutMs,
    maxCallTimeoutMs,
    maxConcurrent,
  } = config;
  const hostName = urlHost(host);
  let isStopping = false;
  // While the bus is away clients get an answer in words, which a balancer without any gateway could not give.
  const notReady = () => (isStopping ? ["the gateway is stopping"] : []);
  const drainOver = new AbortController();

  await using started = new AsyncDisposableStack();
  const caller = started.use(
    await createToolCaller(bus, {
      agent: agentName,
      instance,
      blobs,
      files,
      journals,
      policy,
      maxCallsInFlight: 2 * maxConcurrent,
      log,
    }),
  );
  const mayRegister = () => policy !== undefined;
  if (mayHearBridge(bus, policy))
    started.use(await offerMcpTools(bus, caller, { agent: agentName, policy, mayRegister, log }));
  const figures = new ServiceFigures({ reports: () => caller.reports() });
  const shared = figureStore === undefined ? undefined : new SharedFigures(figures, { store: figureStore, log });
  started.use(startLoop(FIGURES_MS, () => figures.tick()));
  if (shared !== undefined) started.use(startLoop(FIGURES_MS, () => shared.exchange()));
  const refusals = started.use(new RefusalLog({ audit, log }));
  const calls = {
    timeoutMs: callTimeoutMs,
    maxTimeoutMs: maxCallTimeoutMs,
    keys: new RunningKeys(),
    refusals,
    signal: drainOver.signal,
    log,
  };
  const sessions = started.use(new SessionHub(bus, caller, { policy, log }));
  const commander =
    commandKey === undefined
      ? undefined
      : started.use(createCommander(bus, { key: commandKey, source: agentName, policy }));
  const waiting = new WaitingCalls({ runs, caller, policy, commander, commandKey });
  const runsOf =
    runs === undefined ? undefined : (by: string | undefined) => ownRuns(caller, { by, runs, waiting, commandKey });
  const shares = { shared: mcpSessions };
  const mcp = started.use(new GatewayEndpoint(caller, { ...calls, policy, runsOf, sessions: shares }));
  const letters =
    policy === undefined
      ? undefined
      : started.use(
          new LetterDesk({
            caller,
            policy,
            url: config.operatorBrokerUrl,
            access: letterAccess,
            signal: drainOver.signal,
            log,
          }),
        );
  const ending = new AbortController();
  const needsToken = () => accessBy(gatewayToken, policy) !== "open to this machine";
  const agents = await servedAgents(caller, config, { tasks, sessions, needsToken, ending: ending.signal, log });
  const app = createGatewayApp(caller, {
    ...calls,
    token: gatewayToken === undefined ? undefined : () => current().gatewayToken,
    policy,
    operator:
      policy === undefined || letters === undefined
        ? undefined
        : operator({
            bus,
            caller,
            policy,
            letters,
            figures,
            approvals: commandApprovals({ caller, commander }),
            waiting,
            runs,
            readAgent: agentReader({ caller, commander }),
            audits: createAuditLogs({ audit, elsewhere: { caller, commander } }),
            signal: drainOver.signal,
            log,
          }),
    localOperator,
    webhookNotes,
    runs,
    findCall: withKeptArguments(allJournals ?? (() => [caller.journal])),
    commander,
    audit,
    console: config.serveConsole ? { files: consoleFiles } : undefined,
    isOpen: isLoopback(host),
    allowedHosts: [...allowedHosts, hostName],
    allowedOrigins,
    files,
    mcp: () => mcp.get(),
    a2a: agents?.door,
    sessions,
    ending: ending.signal,
    maxConcurrent,
    notReady,
  });
  const server = started.use(await listen(app, config, { signal, onDrainOver: () => drainOver.abort() }));
  // First, so that the server has no requests to wait for that never end.
  started.defer(() => mcp.stopListening());
  started.defer(() => ending.abort());
  started.use(agents);
  await agents?.takeUp();
  const url = `http://${hostName}:${server.port}`;
  const access = accessBy(gatewayToken, policy);
  log.info({ url, access }, "gateway listens");
  const { webhooks: receivers, publicUrl = `http://${openedAs(host)}:${server.port}` } = config;
  if (receivers.length > 0 && runs === undefined)
    log.warn(
      { receivers: receivers.length },
      "this gateway sends no notices, as it shares no store with the services. Set REDIS_URL",
    );
  else if (receivers.length > 0 && runs !== undefined) {
    const { Notices } = await import("./waiting/notices.ts");
    const services = () => servicesWithRuns({ caller, policy });
    started.use(new Notices({ runs, services, leases: webhookNotes, receivers, publicUrl, log }));
  }

  const parts = started.move();
  return {
    url,
    access,
    notReady,
    get consoleUrl() {
      const isThere = config.serveConsole && policy !== undefined && hasOperators({ policy, local: localOperator });
      return isThere ? `http://${openedAs(host)}:${server.port}${CONSOLE_PATH}` : undefined;
    },
    journal: caller.journal,
    figures,
    get mcpLoad() {
      return mcp.load;
    },
    async [Symbol.asyncDispose]() {
      isStopping = true;
      await parts.disposeAsync();
    },
  };
}

const keyOf = ({ operatorKey }: Readonly<GatewayConfig>): KeyObject | undefined =>
  operatorKey === undefined ? undefined : readCommandKey(operatorKey, "operatorKey");

/** The name under which a browser of this machine reaches a server that listens on `host`. */
const openedAs = (host: string): string => (host === "0.0.0.0" || host === "::" ? "127.0.0.1" : urlHost(host));

/**
 * The SDK of A2A, and what it is made of, costs a start a quarter of its time: a gateway without agents does without.
 */
async function servedAgents(
  caller: ToolCaller,
  config: Readonly<GatewayConfig>,
  options: ServeA2aOptions,
): Promise<ServedA2a | undefined> {
  const { a2aUrl: url } = config;
  return url === undefined
    ? undefined
    : (await import("./a2a/serve-a2a.ts")).serveA2a(caller, { ...config, a2aUrl: url }, options);
}

function listen(
  app: HttpApp,
  {
    host,
    port,
    maxConcurrent,
    strangersPerAddress,
    proxies,
    requestTimeoutMs,
    shutdownGraceMs,
  }: Readonly<GatewayConfig>,
  until: { readonly signal: AbortSignal | undefined; readonly onDrainOver: () => void },
): ReturnType<typeof serveHttp> {
  const maxConnections = connectionsOf(maxConcurrent);
  return serveHttp(
    app,
    { host, port },
    { maxConnections, strangersPerAddress, proxies, requestTimeoutMs, drainMs: shutdownGraceMs, ...until },
  );
}

function callsAndPolicy({
  bus,
  caller,
  policy,
  letters,
  figures,
  approvals,
  waiting,
  runs,
  readAgent,
  audits,
  log,
}: OperatorParts): OperatorHttpApp {
  const journals = () => [caller.journal];
  return operatorRoutes({
    [OVERVIEW_PATH]: createOverviewApp({ bus, caller, policy, figures, lettersOf: letters.services, waiting }),
    [HISTORY_PATH]: createHistoryApp(figures),
    [TOOLS_PATH]: createToolsApp(caller),
    [CALLS_PATH]: createCallsApp(journals, { runs }),
    [AGENTS_PATH]: createAgentsApp(readAgent),
    [DLQ_PATH]: letters,
    [MCP_PATH]: createApprovalsApp(approvals),
    [WAITING_PATH]: createWaitingApp(waiting, { log }),
    [AUDIT_PATH]: createAuditApp(audits),
    [POLICY_PATH]: createPolicyApp({ policy, knownTools: caller.knownTools, journals }),
  });
}

function accessBy(gatewayToken: string | undefined, policy: PolicyHolder | undefined): GatewayAccess {
  if (policy !== undefined && callerTokens(policy.current().document).size > 0) return "by the policy's tokens";
  return gatewayToken === undefined ? "open to this machine" : "by the gateway's token";
}
