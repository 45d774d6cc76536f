import { setImmediate } from "node:timers/promises";
import { silentLogger } from "@rockbot/bus";
import { newId } from "@rockbot/contracts";
import { type CronTimes, readCron } from "../cron/read-cron.ts";
import type { ScheduleStore, TaskChange } from "../store/schedule-store.ts";
import { type ScheduledTask, taskKey } from "../task/scheduled-task.ts";
import type { AskedFire, AskOutcome } from "./ask-agent.ts";
import { FireLoop } from "./fire-loop.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const LOOK_MS = 5 * MINUTE;
const MISSED_WINDOW_MS = HOUR;
const REPLICAS = 2;

/** What is played: wall-clock spans, one after the other, with these tasks, and trouble every so often. */
export interface Simulation {
  /** Makes a replica's store: all have the same tasks, and go by the clock. Not disposed of here. */
  readonly storeOf: (clock: () => number) => Promise<ScheduleStore>;
  readonly tasks: readonly {
    readonly name: string;
    readonly cron: string;
    readonly zone: string /** @default up to a minute */;
    readonly runsMs?: number;
  }[];
  /** Days of the wall clock that are played, each a span from its noon the day before to its noon the day after. */
  readonly days: readonly string[];
  /** Kills and clock steps come about so far apart. */
  readonly troubleEveryMs: number;
  readonly random: () => number;
}

/** What became of one fire time of one task. */
export interface FireFate {
  readonly task: string;
  readonly fireAt: number;
  /** How many turns the agent had of it. */
  runs: number;
  /** How often it was asked for: more than once where a replica took it over. */
  asks: number;
  skips: string[];
  /** The clock was set, or a replica killed, near its time. */
  isDisturbed: boolean;
  /** From its time to its run, on the wall clock. */
  lateMs: number;
}

/** Plays the spans, and says what became of every fire time that the wall clock has passed. */
export async function simulate(
  options: Simulation,
): Promise<{ readonly fates: readonly FireFate[]; readonly kills: number; readonly steps: number }> {
  const world = new World(options);
  for (const day of options.days) await world.playDay(Date.parse(day));
  return { fates: world.fates(), kills: world.kills, steps: world.steps };
}

interface Replica {
  readonly loop: FireLoop;
  readonly store: ScheduleStore;
  isDead: boolean;
}

class World {
  readonly #options: Simulation;
  /** Time that only goes on, and what is to come, in its order. */
  #now = 0;
  #events: { readonly at: number; readonly run: () => void }[] = [];
  /** What the wall clock has more than #now. */
  #offset = 0;
  readonly #replicas: (Replica | undefined)[] = Array.from({ length: REPLICAS }, () => undefined);
  /** Operations of stores that have no answer yet. */
  #pending = 0;
  readonly #fates = new Map<string, FireFate>();
  readonly #fireOfId = new Map<string, { readonly task: string; readonly fireAt: number }>();
  /** The turns of the agent, which knows a call by its id. */
  readonly #turns = new Map<string, Promise<AskOutcome>>();
  /** Spans of the wall clock near trouble. */
  readonly #disturbed: { readonly from: number; readonly to: number }[] = [];
  #playedTo = 0;
  readonly #spans: { from: number; to: number }[] = [];
  readonly #times = new Map<string, CronTimes>();
  kills = 0;
  steps = 0;

  constructor(options: Simulation) {
    this.#options = options;
  }

  /** The wall clock. */
  #wall = (): number => this.#now + this.#offset;

  async playDay(day: number): Promise<void> {
    const { random, troubleEveryMs } = this.#options;
    const from = Math.max(day - 12 * HOUR, this.#playedTo);
    const to = day + 36 * HOUR;
    this.#events = [];
    this.#offset = from - this.#now;
    await this.#makeTasks(from);
    for (let i = 0; i < REPLICAS; i++) await this.#start(i);
    const span = { from, to: from };
    this.#spans.push(span);
    let troubleAt = this.#now + random() * troubleEveryMs;
    while (this.#wall() < to) {
      const next = this.#events.toSorted((a, b) => a.at - b.at)[0];
      if (troubleAt <= (next?.at ?? Number.POSITIVE_INFINITY)) {
        this.#now = Math.max(this.#now, troubleAt);
        await this.#trouble();
        troubleAt = this.#now + random() * 2 * troubleEveryMs;
      } else if (next !== undefined) {
        this.#events.splice(this.#events.indexOf(next), 1);
        this.#now = Math.max(this.#now, next.at);
        next.run();
      }
      await this.#settle();
      span.to = Math.max(span.to, this.#wall());
    }
    for (let i = 0; i < REPLICAS; i++) this.#kill(i);
    await this.#settle();
    this.#playedTo = span.to;
  }

  /** New tasks for each span: those of the span before would have missed all that lies between. */
  async #makeTasks(now: number): Promise<void> {
    const store = await this.#options.storeOf(this.#wall);
    for (const { name, cron, zone } of this.#options.tasks) {
      const named = { caller: "asker", sessionId: "s", name };
      const key = taskKey(named);
      const before = await store.read(key);
      const task: ScheduledTask = {
        ...named,
        key,
        id: newId(),
        cron,
        zone,
        description: "do",
        isOnce: false,
        hasReadUntrusted: false,
        createdAt: now,
        nextAt: readCron(cron, zone).next(now),
      };
      await store.write({ key, caller: "asker", version: before?.version, task });
    }
  }

  async #start(place: number): Promise<void> {
    this.#pending++;
    const store = await this.#options.storeOf(this.#wall).finally(() => this.#pending--);
    const replica: Replica = { store, isDead: false, loop: this.#loopOf(store, () => replica) };
    this.#replicas[place] = replica;
    replica.loop.wake();
  }

  #loopOf(store: ScheduleStore, of: () => Replica): FireLoop {
    return new FireLoop({
      store: this.#watched(store, of),
      ask: (fire) => this.#ask(fire, of()),
      zone: "UTC",
      missedWindowMs: MISSED_WINDOW_MS,
      maxRuns: 100,
      mostPerDay: { fires: 1_000_000, tokens: 1_000_000 },
      lookMs: LOOK_MS,
      timers: { after: (ms, run) => this.#after(ms, () => of().isDead || run()) },
      log: silentLogger,
    });
  }

  #after(ms: number, run: () => void): () => void {
    const event = { at: this.#now + ms, run };
    this.#events.push(event);
    return () => {
      const place = this.#events.indexOf(event);
      if (place >= 0) this.#events.splice(place, 1);
    };
  }

  /** A replica that is killed gets no answer any more, whether what it asked for was done or not. */
  #alive<T>(work: Promise<T>, replica: Replica): Promise<T> {
    this.#pending++;
    return new Promise<T>((resolve, reject) => {
      work
        .then(
          (value) => replica.isDead || resolve(value),
          (error: unknown) => replica.isDead || reject(error),
        )
        .finally(() => this.#pending--);
    });
  }

  /** The store as one replica has it, whose changes are noted. */
  #watched(store: ScheduleStore, of: () => Replica): ScheduleStore {
    const watch = async (change: TaskChange) => {
      const outcome = await store.write(change);
      if (outcome === "written" && change.task !== undefined) this.#noteChange(change.task);
      return outcome;
    };
    return {
      where: store.where,
      isShared: true,
      now: () => this.#alive(store.now(), of()),
      read: (key) => this.#alive(store.read(key), of()),
      tasksOf: (caller) => this.#alive(store.tasksOf(caller), of()),
      write: (change) => this.#alive(watch(change), of()),
      look: (asked) => this.#alive(store.look(asked), of()),
      leave: (replica) => this.#alive(store.leave(replica), of()),
      usage: (caller, day) => this.#alive(store.usage(caller, day), of()),
      charge: (caller, day, tokens) => this.#alive(store.charge(caller, day, tokens), of()),
      async [Symbol.asyncDispose]() {},
    };
  }

  #noteChange({ name, cron, zone, running, lastSkip }: ScheduledTask): void {
    if (running !== undefined) this.#fireOfId.set(running.fireId, { task: name, fireAt: running.fireAt });
    if (lastSkip === undefined) return;
    const times = this.#timesOf(cron, zone);
    for (let at: number | undefined = lastSkip.first; at !== undefined && at <= lastSkip.last; at = times.next(at)) {
      const { skips } = this.#fate(name, at);
      const words = `${lastSkip.first} ${lastSkip.last} ${lastSkip.reason}`;
      if (!skips.includes(words)) skips.push(words); // each change of the task has its last skip
    }
  }

  #timesOf(cron: string, zone: string): CronTimes {
    const key = `${zone} ${cron}`;
    const times = this.#times.get(key) ?? readCron(cron, zone);
    this.#times.set(key, times);
    return times;
  }

  #fate(task: string, fireAt: number): FireFate {
    const key = `${task} ${fireAt}`;
    const known = this.#fates.get(key) ?? { task, fireAt, runs: 0, asks: 0, skips: [], isDisturbed: false, lateMs: 0 };
    this.#fates.set(key, known);
    return known;
  }

  /** The call reaches the agent a little later, if its replica lives so long, and the agent has one turn of it. */
  #ask({ fireId }: AskedFire, replica: Replica): Promise<AskOutcome> {
    const { promise, resolve } = Promise.withResolvers<AskOutcome>();
    this.#after(this.#options.random() * 5 * SECOND, () => {
      if (replica.isDead) return;
      const { task, fireAt } = this.#fireOfId.get(fireId) ?? { task: "unknown", fireAt: 0 };
      const fate = this.#fate(task, fireAt);
      fate.asks++;
      if (!this.#turns.has(fireId)) {
        fate.runs++;
        fate.lateMs = this.#wall() - fireAt;
        this.#turns.set(fireId, this.#turn(task));
      }
      void this.#turns.get(fireId)?.then((outcome) => replica.isDead || resolve(outcome));
    });
    return promise;
  }

  #turn(name: string): Promise<AskOutcome> {
    const { random, tasks } = this.#options;
    const { runsMs = MINUTE } = tasks.find((task) => task.name === name) ?? {};
    return new Promise((resolve) =>
      this.#after(random() * runsMs, () =>
        resolve({ outcome: "answered", text: "done", tokens: 1, isUntrusted: false }),
      ),
    );
  }

  async #trouble(): Promise<void> {
    const { random } = this.#options;
    const before = this.#wall();
    const which = random();
    if (which < 0.25) this.#stepClock((5 + random() * 85) * MINUTE);
    else if (which < 0.5) this.#stepClock(-(5 + random() * 85) * MINUTE);
    else {
      const places = which < 0.6 ? [0, 1] : [Math.floor(random() * REPLICAS)];
      for (const place of places) {
        if (!this.#kill(place)) continue;
        this.kills++;
        this.#after(random() * 100 * MINUTE, () => void this.#start(place));
      }
    }
    // A replica may come back up to 100 minutes later, and see within its look what is due.
    this.#disturbed.push({
      from: Math.min(before, this.#wall()) - 10 * MINUTE,
      to: Math.max(before, this.#wall()) + 2 * HOUR,
    });
  }

  #stepClock(ms: number): void {
    this.steps++;
    this.#offset += ms;
  }

  #kill(place: number): boolean {
    const replica = this.#replicas[place];
    if (replica === undefined) return false;
    replica.isDead = true;
    this.#replicas[place] = undefined;
    void replica.loop.stop();
    return true;
  }

  /** Lets all that can go on without time go on. */
  async #settle(): Promise<void> {
    do await setImmediate();
    while (this.#pending > 0);
  }

  /** The fates of all fire times of a span, except its last two hours: they may be on their way. */
  fates(): readonly FireFate[] {
    for (const { name, cron, zone } of this.#options.tasks) {
      const times = this.#timesOf(cron, zone);
      for (const { from, to } of this.#spans) {
        for (let at = times.next(from); at !== undefined && at < to - 4 * HOUR; at = times.next(at))
          this.#fate(name, at);
      }
    }
    for (const fate of this.#fates.values())
      fate.isDisturbed = this.#disturbed.some(({ from, to }) => fate.fireAt >= from && fate.fireAt <= to);
    return [...this.#fates.values()];
  }
}
