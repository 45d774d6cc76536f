import { type AbortSource, pause, RenewingLease } from "@rockbot/base";
import { redact } from "@rockbot/base/redaction";
import { StoreUnavailableError } from "@rockbot/records";
import { type Approval, LEASE_MS, type Question, type Run, type RunEnd, type RunEvent, type Runs } from "@rockbot/runs";
import type { HeldCall, ProgressUpdate } from "../define/tool-executor.ts";
import { ParkedError, SupersededError } from "../superseded-error.ts";
import { notGoingOn } from "./run-errors.ts";

/** The shortest time between two updates in a record, in milliseconds. */
const NOTE_MS = 1_000;
const MAX_MESSAGE = 1_024;
/** A store that does not answer is asked again after this time. */
const AWAY_MS = 500;

/** See HeldCall. */
export class HeldRun implements HeldCall {
  readonly #runs: Runs;
  readonly #owner: string;
  readonly #lost = new AbortController();
  #run: Run;
  #isOnce = false;
  #lease: RenewingLease | undefined;
  readonly #stopped = new AbortController();
  /** The update that is noted next. */
  #newest: ProgressUpdate | undefined;
  #noting: Promise<void> | undefined;

  /** @param owner this process */
  constructor(runs: Runs, run: Run, owner: string) {
    this.#runs = runs;
    this.#run = run;
    this.#owner = owner;
  }

  get run(): Run {
    return this.#run;
  }

  /** The time of the store, in Unix milliseconds. */
  now(): Promise<number> {
    return this.#runs.store.now();
  }

  get isTaken(): boolean {
    return this.#lease !== undefined;
  }

  /** Aborts when another process has taken the run over. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async take(isOnce: boolean): Promise<void> {
    this.#isOnce = isOnce;
    await this.#change({ kind: "taken", owner: this.#owner });
    const lease = new RenewingLease({
      leaseMs: LEASE_MS,
      renew: async () =>
        typeof (await this.#runs.change(this.#run, { kind: "renewed", owner: this.#owner })) !== "string",
    });
    lease.lost.addEventListener("abort", () => this.#lost.abort(new SupersededError("The run was taken over")));
    this.#lease = lease;
  }

  async begins(signal: AbortSource): Promise<void> {
    if (this.#run.hasStarted) return;
    await this.#change({ kind: "started", owner: this.#owner });
    if (this.#isOnce) await this.#untilKept(signal);
  }

  /** Waits until no crash of the store can undo the start, and sees that none has: it would start elsewhere, too. */
  async #untilKept(signal: AbortSource): Promise<void> {
    const { store } = this.#runs;
    if (store.forgetsMs === 0) return;
    await pause(store.forgetsMs, signal);
    for (;;) {
      signal.throwIfAborted();
      try {
        const run = (await store.read(this.#run))?.run;
        if (run?.hasStarted === true && run.lease?.owner === this.#owner) return;
        throw new SupersededError(`The store has forgotten that the run ${this.#run.runId} began`);
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        await pause(AWAY_MS, signal);
      }
    }
  }

  note(update: ProgressUpdate): void {
    if (!this.isTaken || !this.#run.isKept || this.#stopped.signal.aborted) return; // who waits hears it anyway
    this.#newest = update;
    this.#noting ??= this.#noteNewest();
  }

  async keep(handle: string): Promise<boolean> {
    const run = await this.#runs
      .change(this.#run, { kind: "noted", owner: this.#owner, handle })
      .catch((error: unknown) => {
        if (error instanceof StoreUnavailableError) return undefined;
        throw error;
      });
    if (typeof run === "string") throw new SupersededError(`The run ${this.#run.runId}: ${run}`);
    this.#run = run ?? this.#run;
    return run !== undefined;
  }

  async #noteNewest(): Promise<void> {
    while (this.#newest !== undefined && !this.#stopped.signal.aborted) {
      const { progress, total, message } = this.#newest;
      this.#newest = undefined;
      const update = { progress, total, message: message == null ? undefined : redact(message).slice(0, MAX_MESSAGE) };
      await this.#runs.change(this.#run, { kind: "progressed", owner: this.#owner, update }).catch(() => {}); // progress may be lost
      await pause(NOTE_MS, this.#stopped.signal).catch(() => {});
    }
    this.#noting = undefined;
  }

  /** Has everybody look at a run later whose tool is not here, so that it stands in no other's way. */
  async defer(until: number): Promise<void> {
    await this.#runs.change(this.#run, { kind: "deferred", until });
  }

  async giveBack(): Promise<void> {
    await this.stop();
    this.#lease = undefined;
    await this.#change({ kind: "released", owner: this.#owner });
  }

  async askAgain(approval: Approval, forMs: number): Promise<never> {
    await this.#change({ kind: "asked", approval, expiresAt: (await this.#runs.store.now()) + forMs });
    throw new ParkedError(`The run ${this.#run.runId} waits for operators again`);
  }

  async question(question: Question, forMs: number): Promise<never> {
    await this.stop();
    const expiresAt = (await this.now()) + forMs;
    await this.#change({ kind: "questioned", owner: this.#owner, question, expiresAt });
    throw new ParkedError(`The run ${this.#run.runId} waits for an answer`);
  }

  async later(ms: number): Promise<never> {
    await this.stop();
    await this.#change({ kind: "postponed", owner: this.#owner, readyAt: (await this.now()) + ms });
    throw new ParkedError(`The run ${this.#run.runId} waits for ${ms} ms`);
  }

  /** Notes the end. A run that was not taken was refused. @returns false if another process has it */
  async end(end: RunEnd): Promise<boolean> {
    const event: RunEvent = this.isTaken ? { kind: "ended", owner: this.#owner, end } : { kind: "refused", end };
    const ended = await this.#runs.change(this.#run, event);
    await this.stop();
    if (typeof ended === "string") return false;
    this.#run = ended;
    return true;
  }

  /** As `giveBack`, where it may have run, or nobody has taken it: then the end of its lease is waited for. */
  async leave(): Promise<void> {
    if (this.isTaken) await this.giveBack().catch(() => {});
  }

  /** Lets go of the run: its lease ends by itself. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#noting;
    await this.#lease?.[Symbol.asyncDispose]();
  }

  async #change(event: RunEvent): Promise<void> {
    const run = await this.#runs.change(this.#run, event).catch((error: unknown) => {
      throw error instanceof StoreUnavailableError ? notGoingOn(this.#run, error) : error;
    });
    if (typeof run === "string") throw new SupersededError(`The run ${this.#run.runId}: ${run}`);
    this.#run = run;
  }
}
