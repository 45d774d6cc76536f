import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { tools } from "@rockbot/contracts";
import { delegatesOf, findGlob, type PolicyHolder } from "@rockbot/policy";
import type { JournalStore } from "@rockbot/records/journal";
import { createToolCaller, type StartServiceOptions, serveTools, type ToolCaller, type ToolSet } from "@rockbot/tools";
import { askAgent } from "./fire/ask-agent.ts";
import { FireLoop } from "./fire/fire-loop.ts";
import type { SchedulerConfig } from "./generated/config.ts";
import { schedulingGuide } from "./scheduling-guide.ts";
import { openFileScheduleStore } from "./store/file/file-schedule-store.ts";
import type { ScheduleStore } from "./store/schedule-store.ts";
import { systemTimeZone } from "./time/zoned-time.ts";
import { cancelScheduledTask } from "./tools/cancel-scheduled-task.ts";
import { listScheduledTasks } from "./tools/list-scheduled-tasks.ts";
import { scheduleTask } from "./tools/schedule-task.ts";
import type { SchedulingParts } from "./tools/scheduling-parts.ts";

/** The parts of the process that the service uses. */
export interface StartSchedulerOptions extends StartServiceOptions {
  /** Keeps the tasks for all replicas; not disposed of here. @default the file of the settings */
  readonly schedules?: ScheduleStore | undefined;
  /** Where the journal of its calls outlives this process. @default nowhere */
  readonly journals?: JournalStore | undefined;
}

/**
 * A scheduler that runs. Disposal takes no more fires, and waits for runs, at most `shutdownGraceMs`; others take over
 * what is left.
 */
export interface RunningScheduler extends AsyncDisposable {
  /** The runs of tasks. */
  readonly journal: ToolCaller["journal"];
  readonly notes: readonly string[];
}

/**
 * Serves the scheduling tools, and asks the agent on the bus to run what is due, on behalf of each task's caller.
 * @throws {StoreUnavailableError} if the file of the tasks can be neither read nor put aside
 */
export async function startScheduler(
  bus: Bus,
  config: Readonly<SchedulerConfig>,
  { schedules, journals, log = silentLogger, signal, policy, service, ...options }: StartSchedulerOptions,
): Promise<RunningScheduler> {
  signal?.throwIfAborted();
  await using started = new AsyncDisposableStack();
  const { store, notes } = schedules === undefined ? await ownStore(config, log) : { store: schedules, notes: [] };
  if (store !== schedules) started.use(store);
  // With a journal the calls that are out are left for the next process, where one that ends would cancel them.
  const results = journals === undefined ? "copy" : "result";
  const caller = started.use(
    await createToolCaller(bus, { agent: service, results, journals, policy, maxCallsInFlight: config.maxRuns, log }),
  );
  const zone = config.timezone ?? systemTimeZone();
  const mostPerDay = { fires: config.maxFiresPerDay, tokens: config.maxTokensPerDay };
  const loop = new FireLoop({
    store,
    ask: askAgent(caller, { timeoutMs: config.maxRunSeconds * 1_000, isDurable: journals !== undefined }),
    zone,
    missedWindowMs: config.missedWindowSeconds * 1_000,
    maxRuns: config.maxRuns,
    mostPerDay,
    log,
  });
  started.defer(() =>
    endRuns(loop, { caller, isTakenUp: store.isShared && journals !== undefined, graceMs: config.shutdownGraceMs }),
  );
  const parts: SchedulingParts = {
    store,
    zone,
    maxTasks: config.maxTasks,
    shortestIntervalMs: config.shortestIntervalSeconds * 1_000,
    mostPerDay,
    onScheduled: () => loop.wake(),
    refusalFor: (asker) => refusalFor(policy, { service, asker }),
    isAgentThere: () => caller.tools.get(tools.agentChat.name) !== undefined,
  };
  started.use(
    await serveTools(bus, schedulingToolSet(parts, config), {
      ...options,
      service,
      policy,
      drainMs: config.shutdownGraceMs,
      isAuditRequired: config.auditRequired,
      log,
    }),
  );
  loop.wake();
  const running = started.move();
  return { notes, journal: caller.journal, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Why the policy would refuse each run of the caller's tasks; undefined if it would not. */
function refusalFor(
  policy: PolicyHolder | undefined,
  { service, asker }: { readonly service: string; readonly asker: string },
): string | undefined {
  if (policy === undefined) return undefined;
  const current = policy.current();
  const isDelegate = delegatesOf(current.document).some(
    ({ user, callers }) => user === service && findGlob(callers, asker) !== undefined,
  );
  if (!isDelegate) return `the policy does not let "${service}" call on behalf of "${asker}"`;
  return current.decide({ caller: asker, tool: tools.agentChat.name }).isAllowed
    ? undefined
    : `the policy does not let "${asker}" use ${tools.agentChat.name}`;
}

function schedulingToolSet(parts: SchedulingParts, config: Readonly<SchedulerConfig>): ToolSet {
  return {
    tools: [scheduleTask(parts), listScheduledTasks(parts), cancelScheduledTask(parts)],
    guides: [schedulingGuide(config, parts.zone)],
  };
}

async function ownStore(
  { schedulesFile }: Readonly<SchedulerConfig>,
  log: Logger,
): Promise<{ readonly store: ScheduleStore; readonly notes: readonly string[] }> {
  const store = await openFileScheduleStore(schedulesFile);
  const { setAside } = store;
  if (setAside === undefined) return { store, notes: [] };
  log.warn(
    { file: schedulesFile, setAside },
    "could not read the file of the scheduled tasks, put it aside, and began anew",
  );
  return { store, notes: [`schedules ${schedulesFile} could not be read, and begins anew. It is now ${setAside}`] };
}

/** Waits for runs. What is left then is cancelled, or left to another replica where one can take it over. */
async function endRuns(
  loop: FireLoop,
  {
    caller,
    isTakenUp,
    graceMs,
  }: { readonly caller: AsyncDisposable; readonly isTakenUp: boolean; readonly graceMs: number },
): Promise<void> {
  await loop.stop();
  const grace = AbortSignal.timeout(graceMs);
  await Promise.race([loop.idle(), new Promise((resolve) => grace.addEventListener("abort", resolve, { once: true }))]);
  await caller[Symbol.asyncDispose]();
  if (!isTakenUp) await loop.idle(); // the calls that were cancelled are noted
  await loop.leave();
}
