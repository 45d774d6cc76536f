import { AsyncLocalStorage } from "node:async_hooks";
import { metrics } from "@opentelemetry/api";
import { RecentMap } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { newId } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { CronError, type CronTimes, readCron } from "../cron/read-cron.ts";
import type { ScheduleStore, StoredTask, TaskChange, Usage } from "../store/schedule-store.ts";
import {
  ANSWERS_KEPT_MS,
  advanced,
  fireIdOf,
  type RunningFire,
  type ScheduledTask,
  type TaskRun,
  withLastRun,
} from "../task/scheduled-task.ts";
import { taskMessage } from "../task/task-message.ts";
import { dayOf } from "../time/zoned-time.ts";
import type { AskAgent, AskOutcome } from "./ask-agent.ts";
import { processTimers, type Timers } from "./timers.ts";

/** Fires are no part of the trace in which their task was made. */
const outside = AsyncLocalStorage.snapshot();

/** A replica that has not looked so many times is gone. */
const LOOKS_MISSED = 4;
/** The wait after a look or a change that the store did not answer. */
const RETRY_MS = 1_000;
/** A fire that no agent took is asked for again, the later it is the less often, between these bounds. */
const AGAIN_MS = { least: 1_000, most: 15_000 } as const;
/** So late it still runs, whatever the window of missed fires: that of the slowest start of an agent. */
const LEAST_PATIENCE_MS = 20_000;
/** So many tasks are looked at in one go. */
const BATCH = 64;
/** A fire that so many replicas have died over is not tried again. */
const MAX_TAKEOVERS = 3;

/** What a loop needs, and the bounds of callers. */
export interface FireLoopOptions {
  readonly store: ScheduleStore;
  readonly ask: AskAgent;
  readonly zone: string;
  readonly missedWindowMs: number;
  readonly maxRuns: number;
  /** The most of one caller's tasks, on one day. */
  readonly mostPerDay: Usage;
  /**
   * How often a replica looks at least: so it sees that the clock was set, and that another replica is gone.
   * @default 2_000
   */
  readonly lookMs?: number | undefined;
  readonly timers?: Timers | undefined;
  readonly log: Logger;
}

/**
 * Takes each fire that is due for this replica, and has the agent run it. Any number of replicas do so on one store: a
 * change of a task names the version that was read, so that one of them takes a fire. It has one timer.
 */
export class FireLoop {
  readonly #options: FireLoopOptions;
  readonly #timers: Timers;
  readonly #lookMs: number;
  readonly #replica = newId();
  /** The fires that this replica asks the agent for. */
  readonly #runs = new Map<string, Promise<void>>();
  readonly #times = new RecentMap<string, CronTimes>(1_000);
  /** The versions of tasks that the log has told of. */
  readonly #faulty = new RecentMap<string, true>(1_000);
  readonly #fires = metrics.getMeter("@rockbot/scheduler").createCounter("rockbot.schedules.fires", {
    description: "Fires of scheduled tasks, by outcome: answered, failed, missed, overlap, budget.",
  });
  #callOff = (): void => {};
  #looking: Promise<void> | undefined;
  #isWoken = false;
  #isAway = false;
  #isClosed = false;

  constructor(options: FireLoopOptions) {
    this.#options = options;
    this.#timers = options.timers ?? processTimers;
    this.#lookMs = options.lookMs ?? 2_000;
  }

  /** How many fires this replica asks the agent for. */
  get running(): number {
    return this.#runs.size;
  }

  /** Looks for work now: at the start, and after a task was made. */
  wake(): void {
    this.#isWoken = true;
    if (this.#looking === undefined) outside(() => this.#look());
  }

  /** Takes nothing more. Resolves once the look that is on its way is over. */
  async stop(): Promise<void> {
    this.#isClosed = true;
    this.#callOff();
    await this.#looking;
  }

  /** Resolves once the runs of this replica are over and noted. */
  async idle(): Promise<void> {
    await Promise.all(this.#runs.values());
  }

  /** Lets other replicas take over what this one has not ended. */
  async leave(): Promise<void> {
    await this.#options.store.leave(this.#replica).catch(() => {}); // they notice by themselves
  }

  #look(): void {
    if (this.#isClosed) return;
    this.#callOff();
    this.#isWoken = false;
    this.#looking = this.#lookOnce()
      .then(
        (waitMs) => {
          this.#isAway = false;
          return waitMs;
        },
        (error: unknown) => {
          this.#tell(error);
          return RETRY_MS;
        },
      )
      .then((waitMs) => {
        this.#looking = undefined;
        if (this.#isClosed) return;
        this.#callOff = this.#timers.after(this.#isWoken ? 0 : waitMs, () => this.#look());
      });
  }

  /** Logs once that a store is away. One that is shared tells it itself. */
  #tell(error: unknown): void {
    const isAway = error instanceof StoreUnavailableError;
    if (!isAway || !(this.#isAway || this.#options.store.isShared))
      this.#options.log.error({ error: String(error) }, "could not look for scheduled tasks");
    this.#isAway = isAway;
  }

  /** @returns how long to wait until the next look */
  async #lookOnce(): Promise<number> {
    const { store, maxRuns } = this.#options;
    const work = await store.look({
      replica: this.#replica,
      aliveMs: LOOKS_MISSED * this.#lookMs,
      limit: BATCH + maxRuns,
    });
    for (const stored of work.orphans)
      if (this.#hasRoom) await this.#apart(stored, () => this.#takeOver(stored, work.now));
    let dealtWith = 0;
    for (const stored of work.due.slice(0, BATCH)) {
      if (!this.#hasRoom) break;
      if (await this.#apart(stored, () => this.#deal(stored, work.now))) dealtWith++;
    }
    if (!this.#hasRoom) return this.#lookMs; // the end of a run wakes it
    if (dealtWith > 0) return 0; // there may be more by now
    return Math.min(this.#lookMs, Math.max(0, (work.nextAt ?? Number.POSITIVE_INFINITY) - work.now));
  }

  get #hasRoom(): boolean {
    return !this.#isClosed && this.#runs.size < this.#options.maxRuns;
  }

  /** A task that cannot be dealt with holds up no other one. @returns whether it could be */
  async #apart({ task, version }: StoredTask, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      if (!this.#faulty.has(version))
        this.#options.log.error(
          { task: task.name, caller: task.caller, error: String(error) },
          "could not run a scheduled task",
        );
      this.#faulty.set(version, true);
      return false;
    }
  }

  /** Deals with the fires of a task that are due: the last of them runs, or is skipped in words. */
  async #deal({ task, version }: StoredTask, now: number): Promise<void> {
    const { nextAt, notBefore, running } = task;
    if (nextAt === undefined) return void (await this.#write(task, { version, task: undefined }));
    const times = this.#timesOf(task);
    if (times === undefined)
      return void (await this.#write(task, {
        version,
        task: ended(task, now, { first: nextAt, last: nextAt, reason: UNREADABLE }),
      }));
    const fireAt = task.isOnce ? nextAt : lastDue(times, { nextAt, now });
    const moved = advanced(task, times, { fireAt, now });
    const isAgain = notBefore !== undefined && fireAt === nextAt;
    if (now - fireAt > (isAgain ? this.#patienceMs : this.#options.missedWindowMs))
      return this.#skip({ task: moved, version }, { first: nextAt, last: fireAt, reason: "missed" }, now);
    if (running !== undefined)
      return this.#skip({ task: moved, version }, { first: nextAt, last: fireAt, reason: "overlap" }, now);
    const before =
      fireAt > nextAt
        ? { lastSkip: { first: nextAt, last: times.latest(fireAt - 1) ?? nextAt, reason: REASONS.superseded } }
        : {};
    if (fireAt > nextAt) this.#fires.add(1, { outcome: "missed" });
    await this.#take({ task: { ...moved, ...before }, version }, { fireAt, from: nextAt, now, isAgain });
  }

  /** How late a fire may run that no agent took at its time. */
  get #patienceMs(): number {
    return Math.max(LEAST_PATIENCE_MS, this.#options.missedWindowMs);
  }

  async #take(
    { task, version }: StoredTask,
    {
      fireAt,
      from,
      now,
      isAgain,
    }: { readonly fireAt: number; readonly from: number; readonly now: number; readonly isAgain: boolean },
  ): Promise<void> {
    const { mostPerDay, zone } = this.#options;
    const { hasReadUntrusted, grant } = task;
    const message = taskMessage(task, fireAt);
    const taken = { fireId: fireIdOf(task, fireAt), replica: this.#replica, takenAt: now, takeovers: 0 };
    const running: RunningFire = { fireAt, ...taken, message, hasReadUntrusted, grant };
    const spend = { day: dayOf(now, zone), fires: isAgain ? 0 : 1, tokens: 0, most: mostPerDay };
    const outcome = await this.#write(task, { version, task: { ...task, running }, spend });
    if (outcome === "written") this.#run(task, running);
    else if (outcome === "spent")
      await this.#skip({ task, version }, { first: from, last: fireAt, reason: "budget" }, now);
  }

  async #skip(
    { task, version }: StoredTask,
    { reason, ...fires }: { readonly first: number; readonly last: number; readonly reason: SkipReason },
    now: number,
  ): Promise<void> {
    const skip = { ...fires, reason: REASONS[reason] };
    const written = await this.#write(task, {
      version,
      task:
        task.nextAt === undefined && task.running === undefined ? ended(task, now, skip) : { ...task, lastSkip: skip },
    });
    if (written !== "written") return;
    this.#fires.add(1, { outcome: reason });
    this.#options.log.info({ task: task.name, caller: task.caller, reason }, "skipped a scheduled task");
  }

  /** A fire of a replica that is gone. Where nobody else could know of its call, its outcome is unknown. */
  async #takeOver({ task, version }: StoredTask, now: number): Promise<void> {
    const { store, log } = this.#options;
    const { running } = task;
    if (running === undefined || this.#runs.has(running.fireId)) return;
    if (!store.isShared || running.takeovers >= MAX_TAKEOVERS) {
      const text = store.isShared
        ? `outcome_unknown: ${MAX_TAKEOVERS} schedulers ended while it ran`
        : "outcome_unknown: the scheduler ended while it ran";
      await this.#write(task, {
        version,
        task: withRun(task, {
          fireAt: running.fireAt,
          endedAt: now,
          outcome: "failed",
          text,
          isUntrusted: task.hasReadUntrusted,
        }),
      });
      return;
    }
    const taken: RunningFire = { ...running, replica: this.#replica, takeovers: running.takeovers + 1 };
    if ((await this.#write(task, { version, task: { ...task, running: taken } })) !== "written") return;
    log.info({ task: task.name, caller: task.caller }, "took over a scheduled task of a scheduler that is gone");
    this.#run(task, taken);
  }

  #run(task: ScheduledTask, running: RunningFire): void {
    const { fireId, message, grant = task.grant } = running; // a scheduler of an earlier release takes a fire without it
    const { caller, sessionId } = task;
    const hasReadUntrusted = running.hasReadUntrusted || grant === undefined;
    const run = this.#options
      .ask({ fireId, message, hasReadUntrusted, grant, caller, sessionId })
      .then((outcome) => this.#note(task, running, outcome))
      .catch((error: unknown) =>
        this.#options.log.error({ task: task.name, error: String(error) }, "could not note a run of a scheduled task"),
      )
      .finally(() => {
        this.#runs.delete(fireId);
        this.wake();
      });
    this.#runs.set(fireId, run);
  }

  /** Notes how a run ended, however long the store is away: else the task would seem to run for ever. */
  async #note(task: ScheduledTask, { fireAt, fireId }: RunningFire, asked: AskOutcome): Promise<void> {
    let mayBeNoted = false;
    for (;;) {
      try {
        const outcome = await this.#noteOnce(task, { fireAt, fireId, mayBeNoted }, asked);
        if (outcome === "stale") continue;
        if (outcome === "put back") return;
        this.#fires.add(1, { outcome: asked.outcome });
        this.#options.log.info(
          { task: task.name, caller: task.caller, outcome: asked.outcome },
          "ran a scheduled task",
        );
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        if (this.#isClosed) return; // another replica asks the agent again, which knows the answer
        mayBeNoted = true;
        await new Promise<void>((resolve) => this.#timers.after(RETRY_MS, resolve));
      }
    }
  }

  async #noteOnce(
    { key, caller }: ScheduledTask,
    { fireAt, fireId, mayBeNoted }: { readonly fireAt: number; readonly fireId: string; readonly mayBeNoted: boolean },
    { isRefused = false, ...asked }: AskOutcome,
  ) {
    const { store, zone } = this.#options;
    const now = await store.now();
    const tokens = asked.tokens ?? 0;
    const stored = await store.read(key);
    if (stored?.task.running?.fireId !== fireId) {
      // The task was cancelled meanwhile, or the change that had no answer was made.
      if (tokens > 0 && !mayBeNoted) await store.charge(caller, dayOf(now, zone), tokens);
      return "written";
    }
    const { task, version } = stored;
    const run = { ...asked, fireAt, endedAt: now };
    const again = isRefused && fireIdOf(task, fireAt) === fireId ? this.#putBack(task, run) : undefined;
    const outcome = await this.#write(task, {
      version,
      task: again ?? withRun(task, run),
      spend: { day: dayOf(now, zone), fires: 0, tokens },
    });
    return again !== undefined && outcome === "written" ? "put back" : outcome;
  }

  /**
   * The task with the fire that no agent took, for any replica to take it again; undefined if it would be too late
   * then, or the next fire is due before.
   */
  #putBack({ running: _, ...task }: ScheduledTask, run: TaskRun): ScheduledTask | undefined {
    const { fireAt, endedAt, text } = run;
    const notBefore = endedAt + Math.round(Math.min(AGAIN_MS.most, Math.max(AGAIN_MS.least, (endedAt - fireAt) / 4)));
    if (notBefore - fireAt > this.#patienceMs || notBefore >= (task.nextAt ?? Number.POSITIVE_INFINITY))
      return undefined;
    return {
      ...withLastRun(task, { ...run, text: `no agent has taken it yet, and it is asked for again. ${text}` }),
      nextAt: fireAt,
      notBefore,
    };
  }

  #write({ key, caller }: ScheduledTask, change: Omit<TaskChange, "key" | "caller">) {
    return this.#options.store.write({ key, caller, ...change });
  }

  /** Undefined if the expression or its zone is not known here: another version of this program has taken it. */
  #timesOf({ cron, zone }: ScheduledTask): CronTimes | undefined {
    const key = `${zone} ${cron}`;
    const known = this.#times.get(key);
    if (known !== undefined) return known;
    try {
      const times = readCron(cron, zone);
      this.#times.set(key, times);
      return times;
    } catch (error) {
      if (error instanceof CronError) return undefined;
      throw error;
    }
  }
}

type SkipReason = "missed" | "overlap" | "budget";

const REASONS = {
  missed: "missed: no scheduler could take it in time",
  superseded: "missed: of several that were due at once, the last one runs",
  overlap: "its last run still went on",
  budget: "the fires or tokens of this caller's day were used up",
} as const;

const UNREADABLE = "its cron expression or time zone is not known to this scheduler";

/** The last of the fires from the next one up to now. */
function lastDue(times: CronTimes, { nextAt, now }: { readonly nextAt: number; readonly now: number }): number {
  const following = times.next(nextAt);
  return following === undefined || following > now ? nextAt : Math.max(nextAt, times.latest(now) ?? nextAt);
}

/** A task that has no next fire and was skipped: it is shown for a while. */
function ended(task: ScheduledTask, now: number, lastSkip: ScheduledTask["lastSkip"]): ScheduledTask {
  return { ...task, nextAt: undefined, lastSkip, keptUntil: now + ANSWERS_KEPT_MS };
}

/** The task after its run. One that runs once is shown with its answer for a while. */
function withRun({ running: _, ...task }: ScheduledTask, run: TaskRun): ScheduledTask {
  const ran = withLastRun(task, run);
  return task.nextAt === undefined ? { ...ran, keptUntil: run.endedAt + ANSWERS_KEPT_MS } : ran;
}
