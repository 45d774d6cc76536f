import { startLoop, unlessAborted, within } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Sandbox, SandboxMaker } from "../sandbox.ts";
import { isUnbegun, SANDBOXES_FOR_A_SCRIPT } from "../unbegun.ts";
import { Demand } from "./demand.ts";
import { type FailedAttempt, MakingPause } from "./making-pause.ts";
import { type PoolCounts, type PoolMetrics, poolMetrics, SandboxFate } from "./pool-metrics.ts";

export interface SandboxPoolOptions {
  /** How many wait warm at least, also when nobody has asked for long. 0 keeps none then. */
  readonly floor: number;
  /** How many there are at most, in whatever state. */
  readonly ceiling: number;
  /**
   * What is warm above the floor is thrown away once nobody has wanted that many for this long, or for twice as long at
   * most.
   */
  readonly idleMs: number;
  /** How many wait for a sandbox, at most. */
  readonly maxWaiting: number;
  /** How long the making of one may take, whatever its maker says. */
  readonly makeWithinMs: number;
  readonly log: Logger;
}

export interface TakeOptions {
  readonly signal: AbortSignal;
  /** Until when a sandbox is of use, on the clock of `performance.now()`. */
  readonly until: number;
}

/** A sandbox for one job. */
export interface TakenSandbox {
  readonly sandbox: Sandbox;
  /** It was there before the job. */
  readonly isWarm: boolean;
  /** Throws it away, whatever was done with it. Resolves when it is gone, or after 30 s at most; never rejects. */
  discard(fate?: SandboxFate): Promise<void>;
  /** Lets go of it as it is, for another process that looks for its job. */
  leave(): void;
}

/** One that does not end in this time is not waited for any more, nor counted. */
const END_WITHIN_MS = 30_000;
/** How long disposal waits for those that are being made. */
const ATTEMPTS_END_WITHIN_MS = 5_000;
/** A guess, so that callers do not come back at once. */
const RETRY_AFTER_MS = 1_000;

interface Waiter {
  /** The order of coming. */
  readonly turn: number;
  readonly jobId: string;
  readonly signal: AbortSignal;
  /** How many sandboxes for it went before they were ready. */
  lost: number;
  grant(taken: TakenSandbox): void;
  refuse(error: unknown): void;
}

/**
 * Keeps sandboxes warm between a floor and a ceiling, as many as were wanted lately while one is made, and gives each
 * to one job. A job that finds none has one made for it, as long as there are fewer than the ceiling; else it waits, in
 * the order of coming. After a sandbox could not be made, or did not last, the next attempt waits, twice as long each
 * time, up to 30 s; from the third in a row on jobs that find no warm one are refused at once, with the reason. Where a
 * maker says `overloaded`, there is no room for more: its job goes on waiting, in its place, and as many as there are
 * then stay the measure (`MakingPause`).
 */
export class SandboxPool implements AsyncDisposable {
  readonly #maker: SandboxMaker;
  readonly #options: SandboxPoolOptions;
  readonly #demand = new Demand();
  readonly #pause = new MakingPause();
  readonly #metrics: PoolMetrics;
  readonly #stop = new AbortController();
  readonly #periods: AsyncDisposable;
  /** Oldest first. */
  readonly #warm: Sandbox[] = [];
  /** Who has no sandbox and none that is being made for it; the first comes next. */
  readonly #line: Waiter[] = [];
  readonly #endings = new Set<Promise<void>>();
  readonly #attempts = new Set<Promise<void>>();
  #turns = 0;
  #makingWarm = 0;
  #makingForJobs = 0;
  #busy = 0;
  /** How long the last one took to make. */
  #makingMs = 0;
  #pauseTimer: NodeJS.Timeout | undefined;

  /** @throws {RangeError} if floor or ceiling make no sense */
  constructor(maker: SandboxMaker, options: SandboxPoolOptions) {
    const { floor, ceiling, idleMs } = options;
    if (!(ceiling >= 1 && floor >= 0 && floor <= ceiling)) {
      throw new RangeError(
        `Cannot keep sandboxes: the ceiling must be at least 1 and the floor between 0 and it, got ${floor} and ${ceiling}`,
      );
    }
    this.#maker = maker;
    this.#options = options;
    this.#metrics = poolMetrics(maker.kind, () => this.counts);
    this.#periods = startLoop(idleMs, () => this.#beginPeriod());
  }

  get counts(): PoolCounts {
    return {
      warm: this.#warm.length,
      busy: this.#busy,
      making: this.#making,
      ending: this.#endings.size,
      waiting: this.#line.length + this.#makingForJobs,
    };
  }

  /**
   * A sandbox for the job: a warm one, else one that is made for it, else the next that is free.
   * @throws {ToolError} `overloaded` if none comes in time or too many wait, `unavailable` if none can be made; the
   * signal's reason once it aborts
   */
  async take(jobId: string, { signal, until }: TakeOptions): Promise<TakenSandbox> {
    signal.throwIfAborted();
    if (this.#stop.signal.aborted) throw stoppingError();
    if (this.#line.length >= this.#options.maxWaiting) throw this.#overloadedError();
    const { promise, resolve, reject } = Promise.withResolvers<TakenSandbox>();
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(this.#overloadedError()), Math.max(0, until - performance.now()));
    const asked = performance.now();
    const waiter: Waiter = {
      turn: this.#turns++,
      jobId,
      signal: AbortSignal.any([signal, giveUp.signal]),
      lost: 0,
      grant: resolve,
      refuse: reject,
    };
    const leave = (): void => {
      const index = this.#line.indexOf(waiter);
      if (index >= 0) this.#line.splice(index, 1);
      reject(waiter.signal.reason);
    };
    waiter.signal.addEventListener("abort", leave, { once: true });
    this.#line.push(waiter);
    this.#demand.note(this.#wanted, { now: asked, makingMs: this.#makingMs });
    this.#serve();
    try {
      const taken = await promise;
      this.#metrics.waited(performance.now() - asked, taken.isWarm);
      return taken;
    } finally {
      clearTimeout(timer);
      waiter.signal.removeEventListener("abort", leave);
    }
  }

  /** Finds the sandbox that got the job before, from any process. It is there already, whatever the ceiling says. */
  async find(jobId: string, signal: AbortSignal): Promise<TakenSandbox | undefined> {
    const sandbox = await this.#maker.find?.(jobId, { signal });
    return sandbox === undefined ? undefined : this.#taken(sandbox, false);
  }

  /**
   * Refuses callers that wait, and discards sandboxes that are warm or being made; the taker of a sandbox has to
   * discard it. Does not dispose of the maker.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(stoppingError());
    clearTimeout(this.#pauseTimer);
    await this.#periods[Symbol.asyncDispose]();
    for (const waiter of this.#line.splice(0)) waiter.refuse(stoppingError());
    for (const sandbox of this.#warm.splice(0)) void this.#end(sandbox, SandboxFate.Idle);
    await within(ATTEMPTS_END_WITHIN_MS, Promise.all(this.#attempts), () => new Error("late")).catch(() =>
      this.#options.log.error({ kind: this.#maker.kind }, "stopped waiting for sandboxes that are still being made"),
    );
    while (this.#endings.size > 0) await Promise.all(this.#endings);
    this.#metrics[Symbol.dispose]();
  }

  get #wanted(): number {
    return this.#busy + this.#makingForJobs + this.#line.length;
  }

  get #making(): number {
    return this.#makingWarm + this.#makingForJobs;
  }

  /** The number of sandboxes that take up room and are not being made. */
  get #lasting(): number {
    return this.#warm.length + this.#busy + this.#endings.size;
  }

  get #existing(): number {
    return this.#lasting + this.#making;
  }

  get #mayMake(): boolean {
    return this.#existing < this.#options.ceiling && this.#pause.allows(this.#existing, this.#making);
  }

  /** How many should be warm. */
  get #target(): number {
    return Math.max(this.#options.floor, this.#demand.peak);
  }

  /** Does all that can be done now; to be called after whatever may let somebody go on. */
  #serve(): void {
    if (this.#stop.signal.aborted) return;
    while (this.#line.length > 0 && this.#serveFirst());
    while (this.#warm.length + this.#makingWarm - this.#line.length < this.#target && this.#mayMake)
      void this.#makeWarm();
    if (!this.#pause.isOver) {
      clearTimeout(this.#pauseTimer);
      this.#pauseTimer = setTimeout(() => this.#serve(), Math.ceil(this.#pause.leftMs)).unref();
    }
  }

  /** @returns whether the first in the line has left it */
  #serveFirst(): boolean {
    const warm = this.#warm.shift();
    if (warm !== undefined) {
      this.#pause.succeeded(this.#lasting + 1);
      this.#line.shift()?.grant(this.#taken(warm, true));
      return true;
    }
    if (this.#pause.isHopeless) {
      this.#line.shift()?.refuse(this.#pausedError());
      return true;
    }
    if (this.#makingWarm >= this.#line.length || !this.#mayMake) return false;
    void this.#makeFor(this.#line.shift() as Waiter);
    return true;
  }

  async #makeFor(waiter: Waiter): Promise<void> {
    const begunAt = performance.now();
    this.#makingForJobs++;
    try {
      const sandbox = await this.#make(waiter.signal, waiter.jobId);
      this.#pause.succeeded(this.#lasting + 1);
      if (waiter.signal.aborted) void this.#end(sandbox, SandboxFate.Unwanted);
      else waiter.grant(this.#taken(sandbox, false));
    } catch (error) {
      if (waiter.signal.aborted) return;
      const reason = this.#makingFailed(error, { begunAt, others: this.#existing - 1 });
      const isWorthAnother = isUnbegun(reason) && ++waiter.lost < SANDBOXES_FOR_A_SCRIPT;
      if (reason.code === ToolErrorCode.Overloaded || isWorthAnother) this.#waitAgain(waiter);
      else waiter.refuse(reason);
    } finally {
      this.#makingForJobs--;
      this.#serve();
    }
  }

  #waitAgain(waiter: Waiter): void {
    const next = this.#line.findIndex(({ turn }) => turn > waiter.turn);
    this.#line.splice(next < 0 ? this.#line.length : next, 0, waiter);
  }

  async #makeWarm(): Promise<void> {
    const begunAt = performance.now();
    this.#makingWarm++;
    try {
      this.#keep(await this.#make(this.#stop.signal), begunAt);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#makingFailed(error, { begunAt, others: this.#existing - 1 });
    } finally {
      this.#makingWarm--;
      this.#serve();
    }
  }

  /** One that is ready after nobody wants it any more is thrown away. */
  async #make(wanted: AbortSignal, jobId?: string): Promise<Sandbox> {
    const begunAt = performance.now();
    const { makeWithinMs } = this.#options;
    const late = new ToolError(
      ToolErrorCode.Unavailable,
      `No sandbox was ready within ${makeWithinMs / 1_000} s. Try again later.`,
    );
    const giveUp = new AbortController();
    const signal = AbortSignal.any([wanted, this.#stop.signal, giveUp.signal]);
    const timer = setTimeout(() => giveUp.abort(late), makeWithinMs);
    try {
      const making = this.#maker.make({ signal, jobId });
      const attempt = making
        .then(
          (sandbox) => {
            if (signal.aborted) void this.#end(sandbox, SandboxFate.Unwanted);
          },
          () => {},
        )
        .then(() => void this.#attempts.delete(attempt));
      this.#attempts.add(attempt);
      const sandbox = await unlessAborted(making, signal);
      this.#makingMs = performance.now() - begunAt;
      return sandbox;
    } finally {
      clearTimeout(timer);
    }
  }

  #keep(sandbox: Sandbox, begunAt: number): void {
    if (this.#stop.signal.aborted) {
      void this.#end(sandbox, SandboxFate.Unwanted);
      return;
    }
    this.#warm.push(sandbox);
    void sandbox.gone.then(({ error }) => {
      const index = this.#warm.indexOf(sandbox);
      if (index < 0) return;
      this.#warm.splice(index, 1);
      this.#makingFailed(error, { begunAt, others: this.#existing });
      void this.#end(sandbox, SandboxFate.Gone);
    });
  }

  #taken(sandbox: Sandbox, isWarm: boolean): TakenSandbox {
    this.#busy++;
    let ending: Promise<void> | undefined;
    const endBy = (end: () => Promise<void>): Promise<void> => {
      if (ending === undefined) {
        this.#busy--;
        ending = end();
      }
      return ending;
    };
    return {
      sandbox,
      isWarm,
      discard: (fate = SandboxFate.Used) => endBy(() => this.#end(sandbox, fate)),
      leave: () => void endBy(async () => {}),
    };
  }

  #end(sandbox: Sandbox, fate: SandboxFate): Promise<void> {
    this.#metrics.ended(fate);
    const { log } = this.#options;
    const lateError = () => new Error(`it has not ended within ${END_WITHIN_MS / 1_000} s`);
    const ending = within(END_WITHIN_MS, sandbox[Symbol.asyncDispose](), lateError)
      .catch((error: unknown) =>
        log.error({ error: String(error), kind: this.#maker.kind }, "could not remove a sandbox"),
      )
      .then(() => {
        this.#endings.delete(ending);
        this.#serve();
      });
    this.#endings.add(ending);
    return ending;
  }

  #makingFailed(thrown: unknown, attempt: FailedAttempt): ToolError {
    const error =
      thrown instanceof ToolError
        ? thrown
        : new ToolError(ToolErrorCode.Unavailable, "A sandbox could not be made.", { cause: thrown });
    this.#pause.failed(error, attempt);
    this.#metrics.makingFailed();
    this.#options.log.warn(
      { kind: this.#maker.kind, code: error.code, error: String(thrown), nextInMs: Math.round(this.#pause.leftMs) },
      "could not make a sandbox",
    );
    return error;
  }

  #beginPeriod(): void {
    this.#demand.nextPeriod(this.#wanted);
    while (this.#warm.length > this.#target) void this.#end(this.#warm.shift() as Sandbox, SandboxFate.Idle);
    this.#serve();
  }

  #pausedError(): ToolError {
    const { lastError, leftMs } = this.#pause;
    return new ToolError(ToolErrorCode.Unavailable, lastError?.message ?? "No sandbox can be made now.", {
      isRetryable: lastError?.isRetryable,
      retryAfterMs: Math.ceil(leftMs),
      details: lastError?.details,
    });
  }

  #overloadedError(): ToolError {
    const { ceiling } = this.#options;
    const isFull = this.#lasting >= ceiling;
    const failure =
      this.#pause.lastError === undefined
        ? ""
        : ` The last that was to be made failed: ${this.#pause.lastError.message}`;
    const why = isFull
      ? `all ${ceiling} sandboxes that there may be at once are in use.`
      : `no sandbox is ready.${failure}`;
    return new ToolError(ToolErrorCode.Overloaded, `The script was not started: ${why} Try again later.`, {
      retryAfterMs: RETRY_AFTER_MS,
      details: { reason: "sandboxes" },
    });
  }
}

const stoppingError = (): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    "The script was not started: this service is stopping. Try again, another instance may take it.",
    {
      retryAfterMs: RETRY_AFTER_MS,
    },
  );
