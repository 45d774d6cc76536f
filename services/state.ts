import type { SharedRecords } from "@rockbot/records/shared";
import type { RunStore } from "@rockbot/runs";

/** One kind of what services remember in Redis. */
interface SharedKind {
  readonly holds: string;
  /**
   * Its keys there: the user of a service may reach those of the kinds that its entry names. SERVICE stands for the
   * service's name.
   */
  readonly keys: string;
  /** True if the user may only read them. @default false */
  readonly isReadOnly?: boolean;
  /** Further keys that the user may write, and not read. */
  readonly adds?: string;
  /** Its name among what a service is started with. */
  readonly part: string;
  readonly open: (records: SharedRecords) => unknown;
}

/** One kind that lies in files. */
interface FileKind {
  readonly holds: string;
  readonly keys: undefined;
}

/**
 * All kinds of what services remember. Rights in Redis, the parts that a service is started with, the chart and the
 * tables in docs come from here. It loads nothing: `open` imports the store when it is asked.
 */
export const stateKinds = {
  audit: { holds: "a line for each call, in the file of the setting `auditFile`", keys: undefined },
  data: { holds: "files in the folder of the setting `dataDirectory`, or PostgreSQL instead", keys: undefined },
  rates: {
    holds: "what callers have used of their limits",
    keys: "rockbot:{rates}:*",
    part: "rates",
    open: (records) => records.rates(),
  },
  claims: {
    holds: "calls with effects that were taken, so that none runs twice, and their results",
    keys: "rockbot:{claims}:*",
    part: "claims",
    open: (records) => () => records.claims(), // at the first tool with effects
  },
  runs: {
    holds: "calls that wait for people or run detached: those of the service alone",
    keys: "rockbot:{runs}:SERVICE:*",
    part: "runs",
    open: openRuns,
  },
  allRuns: {
    holds: "these calls of all services, read for operators",
    keys: "rockbot:{runs}:*",
    isReadOnly: true,
    part: "runs",
    open: openRuns,
  },
  leases: {
    holds: "work that one replica at a time may do",
    keys: "rockbot:{leases}:*",
    part: "leases",
    open: (records) => records.leases(),
  },
  webhooks: {
    holds: "which notices about calls were sent, and which signed decisions have come",
    keys: "rockbot:{leases}:*:webhook:*",
    part: "webhookNotes",
    open: (records) => records.leases(),
  },
  trust: {
    holds: "approved definitions of MCP servers, agents and REST files, and registered servers",
    keys: "rockbot:{mcp}:*",
    part: "trustStore",
    open: (records) =>
      records.open("trust", async (...at) => (await import("@rockbot/trust/redis")).connectRedisTrustStore(...at)),
  },
  journals: {
    holds: "calls that a caller has made, so that the next process of its name has their results",
    keys: "rockbot:{journal}:*",
    part: "journals",
    open: (records) => records.journals(),
  },
  figures: {
    holds: "how many calls each service had in each minute of the last day, for the console's charts",
    keys: "rockbot:{figures}:*",
    part: "figureStore",
    open: (records) => records.figures(),
  },
  mcpSessions: {
    holds: "sessions of MCP clients, shared by all gateways",
    keys: "rockbot:{journal}:mcp-sessions:*",
    part: "mcpSessions",
    open: (records) =>
      records.open("sessions of MCP clients", async (...at) =>
        (await import("@rockbot/mcp/serve/redis")).connectRedisSharedSessions(...at),
      ),
  },
  schedules: {
    holds: "scheduled tasks, and the day's use of each caller",
    keys: "rockbot:{schedules}:*",
    part: "schedules",
    open: (records) =>
      records.open("schedules", async (...at) =>
        (await import("./scheduler/src/store/redis/index.ts")).connectRedisScheduleStore(...at),
      ),
  },
  memory: {
    holds: "notes and large results of sessions",
    keys: "rockbot:{memory}:*",
    part: "workingMemory",
    open: (records) =>
      records.open("working memory", async (...at) =>
        (await import("@rockbot/memory/redis")).connectRedisWorkingMemory(...at),
      ),
  },
  turns: {
    holds: "sessions of the agent: their history, the turn that runs, its events",
    keys: "rockbot:{turns}:*",
    part: "turnStore",
    open: (records) =>
      records.open("turns", async (...at) => (await import("@rockbot/agent/redis")).connectRedisTurnStore(...at)),
  },
  blobs: {
    holds: "results too large for the bus, until they are fetched",
    keys: "rockbot:{blobs}:*",
    part: "blobs",
    open: (records) => records.blobs(),
  },
  files: {
    holds: "files of callers, and which each caller has",
    keys: "rockbot:{files}:*",
    part: "files",
    open: (records) => records.files(),
  },
  newFiles: {
    holds: "files that calls name or leave; which files a caller has cannot be read",
    keys: "rockbot:{files}:pieces:*",
    adds: "rockbot:{files}:lists:*",
    part: "files",
    open: (records) => records.files(),
  },
  replays: {
    holds: "what running scripts have asked tools for, and the answers",
    keys: "rockbot:{replays}:*",
    part: "replays",
    open: (records) =>
      records.open("replays", async (...at) =>
        (await import("@rockbot/records/replays/redis")).connectRedisReplayStore(...at),
      ),
  },
  summaries: {
    holds: "what a model says that a service's tools are for",
    keys: "rockbot:{summaries}:*",
    part: "summaryStore",
    open: (records) =>
      records.open("summaries", async (...at) =>
        (await import("@rockbot/search/redis")).connectRedisSummaryStore(...at),
      ),
  },
  tasks: {
    holds: "tasks that A2A clients have given",
    keys: "rockbot:{tasks}:*",
    part: "tasks",
    open: (records) =>
      records.open("tasks", async (...at) => (await import("@rockbot/a2a/redis")).connectRedisTaskStore(...at)),
  },
  pages: {
    holds: "web pages that were read lately",
    keys: "rockbot:{pages}:*",
    part: "pageStore",
    open: (records) =>
      records.open("pages", async (...at) =>
        (await import("@rockbot/records/pages/redis")).connectRedisPageStore(...at),
      ),
  },
  owners: {
    holds: "callers of the tasks that other agents have",
    keys: "rockbot:owners:{memory}:*",
    part: "taskOwners",
    open: (records) =>
      records.open("owners of tasks", async (url, options) =>
        (await import("@rockbot/memory/redis")).connectRedisWorkingMemory(url, {
          ...options,
          prefix: "rockbot:owners",
        }),
      ),
  },
} as const satisfies Readonly<Record<string, SharedKind | FileKind>>;

function openRuns(records: SharedRecords): Promise<RunStore | undefined> {
  return records.open("runs", async (...at) => (await import("@rockbot/runs/redis")).connectRedisRunStore(...at));
}

/** One kind of what services remember. */
export type StateKind = Pick<SharedKind, "holds" | "isReadOnly" | "adds"> & { readonly keys: string | undefined };

type Kinds = typeof stateKinds;

/** `claims` keeps calls with effects from running twice, `rates` counts what callers have used up. */
export type State = keyof Kinds;

/** The kinds in Redis. */
export type SharedState = { [Kind in State]: Kinds[Kind] extends SharedKind ? Kind : never }[State];

/** What is opened of each kind in Redis; nothing of those that an entry does not name, and nothing without Redis. */
export type OpenedState = {
  readonly [Kind in SharedState as Kinds[Kind]["part"]]?: Awaited<ReturnType<Kinds[Kind]["open"]>> | undefined;
};

/**
 * Opens what a service remembers in Redis, of the kinds that its entry names and of no other, so that an entry that
 * forgets one is found by its tests.
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function openState(state: readonly State[], records: SharedRecords): Promise<OpenedState> {
  const opened: Record<string, unknown> = {};
  for (const kind of state.map((name): SharedKind | FileKind => stateKinds[name]))
    if (kind.keys !== undefined) opened[kind.part] = await kind.open(records);
  return opened as OpenedState;
}
