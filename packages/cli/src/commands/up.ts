import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { RunningA2a } from "@rockbot/a2a-service";
import { version } from "@rockbot/base/version";
import { type Bus, createMemoryBus, type Logger } from "@rockbot/bus";
import { tools as ownTools } from "@rockbot/contracts";
import { urlHost } from "@rockbot/edge/inbound";
import { createLocalOperator, type Gateway, type OperatorHttpApp, type OperatorParts } from "@rockbot/gateway";
import { createAuditLogs } from "@rockbot/gateway/audit";
import type { McpBridge } from "@rockbot/mcp-bridge";
import { findGlob, openPolicy, type Policy, type PolicyDocument, policyNotes } from "@rockbot/policy";
import { exitOnCrash, onShutdown, serveHealth } from "@rockbot/process";
import { logConsole, startTelemetry } from "@rockbot/process/telemetry";
import { AuditFileError, type OpenAuditLogOptions, openAuditLog } from "@rockbot/records/audit";
import { createMemoryBlobStore } from "@rockbot/records/blobs";
import { createMemoryFileStore } from "@rockbot/records/files";
import { SharedRecords } from "@rockbot/records/shared";
import type { RunningRestTools } from "@rockbot/rest-tools";
import { openState, type State } from "@rockbot/services/state";
import { createToolCaller } from "@rockbot/tools";
import { readCommandCheck, readCommandKey } from "@rockbot/tools/commands";
import type { OperatorApprovals } from "@rockbot/trust";
import { displayBusUrl, MEMORY_BUS } from "../bus-url.ts";
import { type RunningOrOff, startOrOff } from "../client/start-or-off.ts";
import { untilHeard } from "../client/until-heard.ts";
import { CommandError } from "../command-error.ts";
import { examineRunning } from "../runtime/examine-running.ts";
import { mergeApprovals } from "../runtime/merge-approvals.ts";
import { offLines, offTools } from "../runtime/off-tools.ts";
import { openOwnRuns } from "../runtime/open-own-runs.ts";
import { type OperatorAppParts, operatorApp } from "../runtime/operator-app.ts";
import { type OwnSocket, ownSocket } from "../runtime/own-socket.ts";
import { runningProblems } from "../runtime/running-problems.ts";
import { refuseSecondUp, serveOperatorSocket, serveSocket } from "../runtime/serve-socket.ts";
import { fitLine } from "../terminal/fit-line.ts";
import { printError } from "../terminal/print-error.ts";
import { wrapLine } from "../terminal/wrap-line.ts";
import { examineHere, policyFinding } from "./examine-here.ts";
import { type ChosenService, readUpConfig, type UpConfig, type UpOptions } from "./up-config.ts";

export type { UpOptions } from "./up-config.ts";

/** `rockbot up`: the services of the list in one process, until a signal. The one place that composes services. */
// Long because: it composes the parts of the process in the order in which one needs the other
export async function up(options: UpOptions): Promise<void> {
  const config = await readUpConfig(options, process.env);
  const { busUrl, policyFile, auditFile, auditKey, chosen, own } = config;
  const isMemory = busUrl === MEMORY_BUS;
  const graceMs = Math.max(0, ...chosen.map(({ config: { shutdownGraceMs } }) => shutdownGraceMs));
  using shutdown = onShutdown({ graceMs });
  const { healthPort: port, healthHost: host } = own;
  const { isQuiet, ...observed } = telemetryOf(own);
  await using telemetry = await startTelemetry({ service: "rockbot", version, ...observed, logTo: "stderr" });
  const { log } = telemetry;
  exitOnCrash(log);
  logConsole(log);
  const socket = isMemory ? await freeSocket() : undefined;
  let isStarted = false;
  const reasons = [
    (): string | undefined => (shutdown.isRequested ? "the process is stopping" : undefined),
    () => (isStarted ? undefined : "the services are starting"),
  ];
  // Before all that takes time: a port that is taken ends the start at once.
  await using health = await serveHealth({
    port,
    host,
    ready: () => reasons.flatMap((reason) => reason() ?? []),
    metrics: () => telemetry.metricsText(),
  }).catch(sayThePort);

  await using policy = await openPolicy(policyFile, {
    ...(isQuiet && policyFile === undefined ? {} : { log }), // the summary says so
    ...(config.redisUrl === undefined ? { keep: KEPT_HERE } : {}),
  });
  const { identity } = policy.current().document;
  if (isMemory && identity === "verified")
    log.warn({}, "the policy asks for verified senders, and the in-memory bus verifies none");
  await using audit = auditFile === undefined ? undefined : await openAudit(auditFile, { key: auditKey, log });
  const patience = { heartbeatSeconds: own.busHeartbeatSeconds, silenceMs: own.busSilenceMs };
  await using bus = isMemory
    ? createMemoryBus({ log })
    : await (await import("../connect-broker.ts")).connectBroker(busUrl, "rockbot up", {
        ...patience,
        identity,
        log,
        requested: shutdown.requested,
      });
  reasons.push(() => (bus.isReady ? undefined : "the bus is away"));
  void shutdown.requested.then(() => sayStop(graceMs));
  await using records = new SharedRecords({ redisUrl: config.redisUrl, keepsAll: keepsAll(chosen), log });
  const isReached = records.seek();
  reasons.push(() => (isReached() ? undefined : "Redis has not been reached since the start"));
  const hasRuns = chosen.some(({ service }) => service.state.includes("runs"));
  await using ownRuns = config.redisUrl === undefined && hasRuns ? await openOwnRuns(process.env, log) : undefined;
  const runs = ownRuns ?? (hasRuns ? (await openState(["allRuns"], records)).runs : undefined);
  await using inProcess = config.redisUrl === undefined && isMemory ? createMemoryBlobStore() : undefined;
  await using ownFiles = config.redisUrl === undefined && isMemory ? createMemoryFileStore() : undefined;
  // Other commands of this user come by the socket, or by the broker. It listens before the services start: it has
  // heard of all when the slowest runs.
  const cli = { agent: "cli", results: "copy", policy, log } as const;
  await using caller =
    socket === undefined
      ? undefined
      : await createToolCaller(bus, {
          ...cli,
          blobs: inProcess ?? (await records.blobs()),
          files: ownFiles?.files ?? (await records.files()),
        });
  await using started = new AsyncDisposableStack();
  const running = new Map<string, RunningOrOff>();
  const localOperator = createLocalOperator();
  const keys = commandKeys(chosen);
  let operators: OperatorHttpApp | undefined;
  let waiting: OperatorParts["waiting"] | undefined;
  const journals = () => [...(caller ? [caller] : []), ...running.values()].flatMap(({ journal }) => journal ?? []);
  const further = () =>
    runningProblems({ running, servers: bridgeIn(running)?.servers, approvals: approvalsIn(running) });
  for (const { service, config } of chosen) {
    const parts = {
      bus,
      config,
      env: process.env,
      audit,
      log,
      policy,
      signal: shutdown.signal,
      operator: (parts: OperatorParts) => {
        const known = { journals, further, ...(isMemory ? { audits: createAuditLogs({ audit }) } : {}) };
        const here = keys.commandKey === undefined ? approvalsIn(running) : undefined;
        operators = operatorOf(known, here, log)(parts);
        waiting = parts.waiting;
        return operators;
      },
      localOperator,
      allJournals: journals,
      ...keys,
    };
    const remembered = await remember({ service, config }, { records, started, log });
    running.set(
      service.name,
      started.use(
        await startOrOff(service, {
          ...parts,
          ...remembered,
          blobs: inProcess ?? remembered.blobs,
          files: ownFiles?.files ?? remembered.files,
          runs: ownRuns ?? remembered.runs,
        }).catch(nameThePort),
      ),
    );
  }
  const bridge = bridgeIn(running); // undefined, too, if it cannot run here
  const gateway = running.get("gateway") as Gateway | undefined;
  /** A link that opens the console once. */
  const consoleLink = () => gateway?.consoleUrl && `${gateway.consoleUrl}#code=${localOperator.codes.create()}`;
  await using _mcpTools =
    caller === undefined || bridge === undefined
      ? undefined
      : await (await import("@rockbot/mcp/for-agents")).offerMcpTools(bus, caller, { agent: "cli", policy, log });
  const forOwner = {
    mcpServers: () => bridge?.servers,
    off: () => offTools(running),
    findings: async () => [
      policyFinding(policyFile, policy),
      ...(await examineHere({ busUrl, env: process.env, chosen })).findings,
      ...(await examineRunning({ running, servers: bridge?.servers, approvals: approvalsIn(running) })),
    ],
    consoleLink,
    owner: localOperator,
    audit,
  };
  const serving = { drainMs: graceMs, signal: shutdown.signal, log };
  const figures = gateway?.figures;
  await using operatorSocket =
    isMemory || operators === undefined
      ? undefined
      : await serveOperatorSocket(process.env, { ...forOwner, operator: operators }, serving);
  await using _socket =
    socket === undefined || caller === undefined
      ? undefined
      : await serveSocket(
          socket,
          {
            ...forOwner,
            bus,
            caller,
            approvals: approvalsIn(running),
            journals,
            figures,
            further,
            waiting,
            runs,
            policy,
          },
          serving,
        );
  await bridge?.settled?.(MCP_SERVERS_MS); // one that cannot run here has none
  await (caller && untilHeard(caller, servingOf(chosen, running)));
  if (shutdown.isRequested) return;
  isStarted = true;
  const isRead = process.stderr.isTTY && own.logFormat !== "json" && gateway !== undefined;
  const parts = {
    running,
    gateway,
    consoleLink: isRead ? consoleLink() : undefined,
    decisionCode: isRead ? localOperator.decisionCode.show() : undefined,
    tools: caller?.tools.getTools(),
    socket: (socket ?? operatorSocket)?.path,
    policy: policy.current(),
    traits: bus.traits,
  };
  printError(describe(config, { ...parts, probes: health.port }));
  await shutdown.requested; // Then running calls drain, the bus closes, spans are flushed.
}

/** How long the start waits for MCP servers that neither are there nor have failed. Their tools come later, too. */
const MCP_SERVERS_MS = 10_000;

const bridgeIn = (running: ReadonlyMap<string, RunningOrOff>): McpBridge | undefined =>
  running.get("mcp-bridge") as McpBridge | undefined;

const approvalsIn = (running: ReadonlyMap<string, RunningOrOff>): OperatorApprovals | undefined =>
  mergeApprovals(
    bridgeIn(running)?.approvals,
    (running.get("rest-tools") as RunningRestTools | undefined)?.approvals,
    (running.get("a2a") as RunningA2a | undefined)?.approvals,
  );

/** The keys of commands: those of the settings, or a pair for this process's life. */
function commandKeys(chosen: readonly ChosenService[]): {
  readonly commandKey?: KeyObject;
  readonly operatorKey: KeyObject;
} {
  const settings = chosen.map(({ config }) => config as { operatorKey?: string; operatorPublicKey?: string });
  const signing = settings.find(({ operatorKey }) => operatorKey !== undefined)?.operatorKey;
  const check = settings.find(({ operatorPublicKey }) => operatorPublicKey !== undefined)?.operatorPublicKey;
  if (signing === undefined && check !== undefined)
    return { operatorKey: readCommandCheck(check, "operatorPublicKey") }; // a gateway elsewhere gives the commands
  const commandKey =
    signing === undefined ? generateKeyPairSync("ed25519").privateKey : readCommandKey(signing, "operatorKey");
  return { commandKey, operatorKey: createPublicKey(commandKey) };
}

/** The services here that offer tools. */
const servingOf = (chosen: readonly ChosenService[], running: ReadonlyMap<string, RunningOrOff>): string[] =>
  chosen
    .filter(({ service: { name, topic } }) => topic !== undefined && running.get(name)?.isOff !== true)
    .map(({ service }) => service.name);

/** Tells whether the Redis of the claims keeps all its writes, by the first section that names it. */
const keepsAll = (chosen: readonly ChosenService[]): boolean | undefined =>
  chosen.find(({ service, config }) => service.state.includes("claims") && config.redisUrl !== undefined)?.config
    .redisKeepsAll;

/** @throws {CommandError} in words for the user */
async function openAudit(file: string, options: OpenAuditLogOptions) {
  try {
    return await openAuditLog(file, options);
  } catch (error) {
    if (error instanceof AuditFileError) throw new CommandError(error.message);
    throw error;
  }
}

/** Texts of calls that are kept in memory without a policy file, for the user who has started the process. */
const KEPT_HERE = { tools: ["*"], hours: 1, bytes: 16_384 };

/**
 * The endpoints that operators reach by their tokens: the same as by the socket.
 * @param here the decisions in this process, where it can give no commands
 */
const operatorOf =
  (
    known: Pick<OperatorAppParts, "journals" | "further" | "audits">,
    here: OperatorApprovals | undefined,
    log: Logger,
  ) =>
  (parts: OperatorParts) =>
    operatorApp({ ...parts, ...known, approvals: here === undefined ? parts.approvals : () => here, log });

/** The token that a request to the gateway must carry. */
const tokens: Readonly<Record<Gateway["access"], string>> = {
  "open to this machine": "none needed: only this machine can reach the gateway",
  "by the gateway's token": "the value of GATEWAY_TOKEN, as a bearer token",
  "by the policy's tokens": "the token of a caller in the policy, as a bearer token",
};

/** A person at a terminal reads the summary. The log of what goes as usual is there when asked for. */
function telemetryOf({ logLevel, logFormat, traceRatio }: UpConfig["own"]) {
  const isQuiet = process.stderr.isTTY === true && logLevel === "info" && !process.env["LOG_LEVEL"];
  return { isQuiet, logFormat, traceRatio, logLevel: isQuiet ? ("warn" as const) : logLevel };
}

/**
 * The socket that other commands look for, in a folder that is there.
 * @throws {CommandError} if another `rockbot up` has it
 */
async function freeSocket(): Promise<OwnSocket> {
  const socket = ownSocket(process.env);
  socket.makeFolder();
  await refuseSecondUp(socket);
  return socket;
}

const sayStop = (graceMs: number): void =>
  printError(
    `${process.stderr.isTTY ? "\n" : ""}stopping: running calls have ${graceMs / 1000} s to end; Ctrl-C stops now`,
  );

/** @throws {CommandError} for a port that cannot be listened on */
function sayThePort(error: Error): never {
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  throw new CommandError(error.message, { cause: error });
}

/** @throws {CommandError} for a port that is taken, with the option for another */
function nameThePort(error: Error & { readonly code?: string }): never {
  if (error.code !== "EADDRINUSE") throw error;
  throw new CommandError(`${error.message}: --port 0 takes any that is free`);
}

/** The services that run, their addresses, how long the start took, and one command to try. */
function describe(
  { busUrl, policyFile, chosen, own }: UpConfig,
  {
    running,
    gateway,
    consoleLink,
    decisionCode,
    probes,
    tools,
    socket,
    policy: { revision, document },
    traits: { verifiesSender },
  }: {
    readonly running: ReadonlyMap<string, RunningOrOff>;
    readonly gateway: Gateway | undefined;
    /** For a person at a terminal: what it opens must not stay in a file. */
    readonly consoleLink: string | undefined;
    /** Likewise, and for nobody else: programs of this user could open the rest. */
    readonly decisionCode: string | undefined;
    readonly probes: number | undefined;
    readonly tools: readonly Named[] | undefined;
    readonly socket: string | undefined;
    readonly policy: Policy;
    readonly traits: Bus["traits"];
  },
): string {
  const names = chosen.map(({ service }) => service.name);
  const { mcpConfig } = (chosen.find(({ service }) => service.name === "mcp-bridge")?.config ?? {}) as {
    readonly mcpConfig?: string;
  };
  const lines = [
    `rockbot ${version}: ${new Intl.ListFormat("en", { style: "long" }).format(names)} over ${displayBusUrl(busUrl)}`,
  ];
  const hasAgent = (running.get("agent") ?? { isOff: true }).isOff !== true;
  if (gateway !== undefined) {
    const forChat = hasAgent ? `, for chat clients ${gateway.url}/v1` : "";
    lines.push(
      `  gateway   ${gateway.url}, for MCP clients ${gateway.url}/mcp${forChat}`,
      `  token     ${tokens[gateway.access]}`,
    );
    if (gateway.consoleUrl !== undefined)
      lines.push(`  console   ${consoleLink ?? `${gateway.consoleUrl} ("rockbot open" opens it)`}`);
  }
  if (decisionCode !== undefined)
    lines.push(`  code      ${decisionCode} decides about calls that wait: rockbot approvals ls`);
  if (probes !== undefined)
    lines.push(`  health    http://${urlHost(own.healthHost)}:${probes}/healthz, /readyz and /metrics`);
  if (tools !== undefined)
    lines.push(fitLine(`  tools     ${tools.length}: ${tools.map(({ name }) => name).join(", ")}`, process.stderr));
  if (socket !== undefined) lines.push(`  socket    ${socket}`);
  if (mcpConfig !== undefined)
    lines.push(`  mcp       the servers of ${mcpConfig}; "rockbot mcp ls" shows their state`);
  lines.push(
    `  policy    ${policyFile === undefined ? "none: every caller may use every tool except the dangerous ones" : `${policyFile}, revision ${revision}`}`,
    ...(policyFile === undefined ? [] : policyNotes(document).map((words) => `            ${words}`)),
  );
  lines.push(
    `  identity  ${verifiesSender ? "verified by the broker" : "trusted: every process on this bus can act as any agent"}`,
  );
  for (const { off = [], notes = [] } of running.values())
    lines.push(...[...offLines(off), ...notes].map((words) => wrapLine(`  ${words}`, process.stderr, { indent: 12 })));
  lines.push(`ready in ${Math.round(performance.now())} ms`);
  const example = exampleCall(tools, running, document.approve);
  if (gateway !== undefined && example !== undefined) {
    const auth = gateway.access === "open to this machine" ? "" : ' -H "authorization: Bearer $TOKEN"';
    lines.push(
      `  try       curl -s${auth} ${gateway.url}/v1/tools/${example.name}/invoke -H 'content-type: application/json' -d '${example.body}'`,
    );
  }
  return lines.join("\n");
}

interface Named {
  readonly name: string;
}

/**
 * A call to try that needs no internet, of a tool of RockBot's own that is there; over a broker only the services here
 * are known. No call that waits for a person.
 */
function exampleCall(
  tools: readonly Named[] | undefined,
  running: ReadonlyMap<string, RunningOrOff>,
  approve: PolicyDocument["approve"],
) {
  const { executePythonScript, ...others } = ownTools;
  const runsHere = running.has("scripts-manager") && running.get("scripts-manager")?.isOff !== true;
  const waits = (name: string): boolean => approve.some((rule) => findGlob(rule.tools, name) !== undefined);
  const isThere = (name: string): boolean => tools?.some((tool) => tool.name === name) === true && !waits(name);
  if (tools === undefined ? runsHere && !waits(executePythonScript.name) : isThere(executePythonScript.name))
    return { name: executePythonScript.name, body: '{"script":"print(sum(range(10)))"}' };
  const other = Object.values(others).find(
    ({ name, dangerous, inputSchema }) => !dangerous && !("required" in inputSchema) && isThere(name),
  );
  return other && { name: other.name, body: "{}" };
}

/** What a service remembers in Redis, by records of its own if it does not count callers. */
function remember(
  { service, config }: ChosenService,
  {
    records,
    started,
    log,
  }: { readonly records: SharedRecords; readonly started: AsyncDisposableStack; readonly log: Logger },
) {
  const own = service.state.includes("rates")
    ? records
    : started.use(new SharedRecords({ redisUrl: config.redisUrl, log }));
  const isOfProcess = (kind: State): boolean => kind === "rates" || kind === "claims" || kind === "runs";
  const state = service.state.filter((kind) => isOfProcess(kind) || config.redisUrl !== undefined);
  return openState(state, own);
}
