import { readFileSync } from "node:fs";
import {
  type AgentList,
  AgentPool,
  getAgentDetails,
  invokeAgent,
  listKnownAgents,
  MAX_CARD_BYTES,
  TaskOwners,
} from "@rockbot/a2a/ask";
import { AnnouncedAgents, BusTasks } from "@rockbot/a2a/bus";
import { within } from "@rockbot/base";
import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { taskTopics } from "@rockbot/contracts";
import { createPublicFetch, type PublicFetch } from "@rockbot/edge/outbound";
import { createWorkingMemory, type WorkingMemory } from "@rockbot/memory";
import { AdvisedTools, createIdentity, METERED, type StartServiceOptions, serveTools } from "@rockbot/tools";
import {
  A2A_PINS,
  approvalCommands,
  createToolApprovals,
  openTrust,
  type SourceState,
  type ToolApprovals,
  type TrustStore,
} from "@rockbot/trust";
import { a2aGuide } from "./a2a-guide.ts";
import type { A2AConfig } from "./generated/config.ts";
import { readAgentsFile } from "./read-agents-file.ts";
import { watchAgentsFile } from "./watch-agents-file.ts";

/** The parts of the process that the service uses. */
export interface StartA2aOptions extends StartServiceOptions {
  /** Where the values of credentials are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where it is kept which cards are approved. @default the file `a2aLockFile`, or the memory of this process */
  readonly trustStore?: TrustStore | undefined;
  /** Where it is kept whose the tasks of agents are. @default the memory of this process */
  readonly taskOwners?: WorkingMemory | undefined;
  /** How long the start waits for cards, in milliseconds. @default 10_000 */
  readonly settleMs?: number | undefined;
}

/** The tools for agents of other makers, served. */
export interface RunningA2a extends AsyncDisposable {
  readonly faults: readonly string[];
  readonly notes: readonly string[];
  /** Decisions of operators about cards. */
  readonly approvals: ToolApprovals;
}

/** The timeout of a card, headers and body. */
const CARD_TIMEOUT_MS = 20_000;
/** No call takes longer. */
const CALL_TIMEOUT_MS = 20 * 60_000;

/**
 * Serves the tools for the agents of a file. Resolves once calls are taken. Cards have been read by then, or could not
 * be; agents whose card takes longer than `settleMs` come later. Disposal waits for running calls, at most
 * `shutdownGraceMs`.
 * @throws {ConfigError} if the file has faults
 */
export async function startA2a(
  bus: Bus,
  config: Readonly<A2AConfig>,
  { env, trustStore, taskOwners, settleMs = 10_000, log = silentLogger, signal, ...options }: StartA2aOptions,
): Promise<RunningA2a> {
  signal?.throwIfAborted();
  const {
    a2aAgentsFile: file,
    pin,
    refreshSeconds,
    hearBusAgents,
    busAgentSenders: senders,
    onlyNamedBusAgents: isNamedOnly,
  } = config;
  await using started = new AsyncDisposableStack();
  if (file === undefined && !hearBusAgents)
    log.warn({}, "there are no agents of other makers. Set A2A_AGENTS_FILE to a file that names them");
  const text = file === undefined ? "" : readFileSync(file, "utf8");
  const ofFile = file === undefined ? [] : readAgentsFile(file);
  const trust = started.use(
    openTrust({ shared: trustStore, lockFile: config.a2aLockFile, onMemory: () => tellOfMemory(log) }),
  );
  const cardFetch = started.use(
    guarded(config, { maxBytes: MAX_CARD_BYTES, timeoutMs: CARD_TIMEOUT_MS, idleTimeoutMs: CARD_TIMEOUT_MS }),
  );
  const fetch = started.use(
    guarded(config, {
      maxBytes: config.maxResponseBytes,
      timeoutMs: CALL_TIMEOUT_MS,
      idleTimeoutMs: config.idleTimeoutMs,
    }),
  );
  const owners = new TaskOwners({ memory: taskOwners ?? started.use(createWorkingMemory()), log });
  const onChange = (): void => provider.advise(namesIn(agents));
  const pool: AgentPool = started.use(
    new AgentPool({ fetch: cardFetch, trust, pin, refreshMs: refreshSeconds * 1_000, onChange, log }),
  );
  const identity = createIdentity(bus, options.policy);
  const announced = hearBusAgents
    ? started.use(new AnnouncedAgents({ identity, trust, pin, senders, isNamedOnly, onChange, log }))
    : undefined;
  const agents = allOf(pool, announced);
  const approvals = approvalsOf(trust.store, () => [...pool.states, ...(announced?.states ?? [])], log);
  const busTasks = new BusTasks(bus, { service: options.service, identity, maxBytes: config.maxResponseBytes, log });
  const provider = new AdvisedTools({
    advice: namesIn(agents),
    tools: (names) => [
      listKnownAgents(agents),
      getAgentDetails(agents),
      invokeAgent({ agents, busTasks, owners, names, fetch, env }),
    ],
    guides: [a2aGuide],
  });
  if (announced !== undefined) started.use(await hearBus(bus, announced, busTasks));
  await within(settleMs, pool.apply(ofFile), () => new Error("late")).catch(() => {});
  started.use(
    await serveTools(bus, provider, {
      ...options,
      concurrency: config.concurrency,
      drainMs: config.shutdownGraceMs,
      isAuditRequired: config.auditRequired,
      commands: approvalCommands(approvals),
      log,
    }),
  );
  if (file !== undefined) started.use(watchAgentsFile(file, text, (now) => pool.apply(now), { log }));
  const running = started.move();
  return {
    get faults() {
      return faultsOf(pool);
    },
    get notes() {
      return notesOf(pool, announced);
    },
    approvals,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Decisions about what is pinned of cards. */
const approvalsOf = (store: TrustStore, sources: () => readonly SourceState[], log: Logger): ToolApprovals =>
  createToolApprovals(store, { log, sources, owns: (server) => server.startsWith(A2A_PINS) });

/** Agents of the file and of the bus. One that an operator has named has its name alone. */
const allOf = (pool: AgentPool, announced: AnnouncedAgents | undefined): AgentList => ({
  get all() {
    const named = pool.all;
    const taken = new Set(named.map(({ name }) => name.toLowerCase()));
    const others = (announced?.all ?? []).filter(({ name }) => !taken.has(name.toLowerCase()));
    return [...named, ...others].sort((a, b) => (a.name < b.name ? -1 : 1));
  },
});

/**
 * Hears what agents on the bus say. Each instance hears all that they say to everybody, and the answers to its own
 * tasks.
 */
async function hearBus(bus: Bus, announced: AnnouncedAgents, tasks: BusTasks): Promise<AsyncDisposable> {
  await using hearing = new AsyncDisposableStack();
  hearing.use(await tasks.hear());
  const said = await bus.subscribe(
    { name: "bus-agents", topics: [taskTopics.announce, taskTopics.status], kind: "copy", ...METERED },
    async (message) => (message.topic === taskTopics.announce ? announced.take(message) : tasks.take(message)),
  );
  hearing.use(said);
  return hearing.move();
}

const namesIn = ({ all }: AgentList): readonly string[] =>
  all.flatMap(({ name, card }) => (card === undefined ? [] : [name]));

const faultsOf = ({ faults }: AgentPool): string[] =>
  faults.map(({ name, why }) => `the card of the agent "${name}" could not be used: ${why}`);

/** What an operator should know of them. */
const notesOf = (pool: AgentPool, announced: AnnouncedAgents | undefined): string[] => {
  const waiting = pool.waiting + (announced?.waiting ?? 0);
  return [
    ...faultsOf(pool),
    ...(waiting === 0 ? [] : [`${waiting} parts of cards of agents wait for an approval: rockbot mcp approve`]),
  ];
};

interface Bounds {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** What requests go out by. */
const guarded = ({ allowAddresses, allowPorts }: Readonly<A2AConfig>, bounds: Bounds): PublicFetch & AsyncDisposable =>
  createPublicFetch({ allowAddresses, allowedBy: "ALLOW_ADDRESSES", allowPorts, userAgent: "RockBot", ...bounds });

const tellOfMemory = (log: Logger): void =>
  log.info(
    {},
    "only this process knows which cards of agents are approved, and forgets it at a restart. Set REDIS_URL or A2A_LOCK_FILE",
  );
