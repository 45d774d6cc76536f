import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type JobOutcome, runJob } from "../job/run-job.ts";
import type { Sandbox, SandboxMaker } from "../sandbox.ts";
import {
  goesOn,
  type RunScriptOptions,
  type ScriptJob,
  type ScriptOutcome,
  type ScriptRunner,
} from "../script-runner.ts";
import { isUnbegun, SANDBOXES_FOR_A_SCRIPT } from "../unbegun.ts";
import { SandboxFate } from "./pool-metrics.ts";
import { SandboxPool, type TakenSandbox } from "./sandbox-pool.ts";

/** How many sandboxes a pool keeps warm, and how many run at once. */
export interface PooledRunnerOptions {
  /** Sandboxes that wait warm at least, also when nobody has asked for long. 0 keeps none then. */
  readonly floor: number;
  /** Sandboxes at most, in whatever state: so many scripts run at once. */
  readonly ceiling: number;
  /**
   * What is warm above the floor is thrown away once nobody has wanted that many for this long, or for twice as long at
   * most.
   */
  readonly idleMs: number;
  /** How many scripts wait for a sandbox; beyond, the answer is `overloaded` at once. @default 1024 */
  readonly maxWaiting?: number | undefined;
  /** How long the making of a sandbox may take, in milliseconds, whatever its maker says. @default 300_000 */
  readonly makeWithinMs?: number | undefined;
  /** How much of stdout and of stderr is kept, each, in bytes. */
  readonly keepBytes: number;
  readonly log: Logger;
}

/**
 * From a script's end to its answer, with the making of room for it: a script has to end so long before the deadline of
 * its call, or a quarter of its time.
 */
const ANSWER_MS = 500;
/**
 * A script that is left less than this when its sandbox comes is not started: `overloaded` says more than the time-out
 * that would follow.
 */
const LEAST_RUN_MS = 100;
/** Sandboxes that somebody else has taken, or that do not take the job, before the call fails. */
const ASSIGN_ATTEMPTS = 3;

interface RunInOptions {
  readonly signal: AbortSignal;
  readonly endBy: number;
  /** When the job came to the runner. */
  readonly arrived: number;
  readonly mayHaveBegun: boolean;
  readonly onOutput: RunScriptOptions["onOutput"];
}

/**
 * Runs each script in a sandbox of the maker's, warm if there is one, and throws it away afterwards. Owns the maker.
 */
export function pooledRunner(maker: SandboxMaker, options: PooledRunnerOptions): ScriptRunner {
  return new PooledRunner(maker, options);
}

class PooledRunner implements ScriptRunner {
  readonly kind: string;
  readonly isResumable: boolean;
  readonly carriesFiles: boolean;
  readonly lasts: boolean;
  readonly #maker: SandboxMaker;
  readonly #options: PooledRunnerOptions;
  readonly #pool: SandboxPool;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<ScriptOutcome>>();

  constructor(maker: SandboxMaker, options: PooledRunnerOptions) {
    const { maxWaiting = 1024, makeWithinMs = 300_000 } = options;
    this.kind = maker.kind;
    this.isResumable = maker.find !== undefined;
    this.carriesFiles = maker.carriesFiles === true;
    this.lasts = maker.lasts === true;
    this.#maker = maker;
    this.#options = options;
    this.#pool = new SandboxPool(maker, { ...options, maxWaiting, makeWithinMs });
  }

  async run(job: ScriptJob, options: RunScriptOptions): Promise<ScriptOutcome> {
    const run = this.#runOnce(job, options);
    this.#running.add(run);
    try {
      return await run;
    } finally {
      this.#running.delete(run);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(
      new ToolError(
        ToolErrorCode.Unavailable,
        "The script was ended: this service is stopping. Try again, another instance may take it.",
      ),
    );
    await Promise.allSettled(this.#running);
    await this.#pool[Symbol.asyncDispose]();
    await this.#maker[Symbol.asyncDispose]();
  }

  #isLeft(signal: AbortSignal): boolean {
    return (this.isResumable && this.#stop.signal.aborted) || goesOn(this, signal);
  }

  async #runOnce(
    job: ScriptJob,
    { signal: caller, deadline, mayHaveBegun = false, onOutput }: RunScriptOptions,
  ): Promise<ScriptOutcome> {
    const arrived = performance.now();
    const lapse = new AbortController();
    const endBy = deadline - Math.min(ANSWER_MS, Math.max(0, deadline - arrived) / 4);
    const timer = setTimeout(() => lapse.abort(lapsedError()), Math.max(0, deadline - arrived));
    const signal = AbortSignal.any([caller, this.#stop.signal, lapse.signal]);
    try {
      for (let sandboxes = 1; ; sandboxes++) {
        try {
          return await this.#runIn(job, { signal, endBy, arrived, mayHaveBegun, onOutput });
        } catch (error) {
          if (signal.aborted || !isUnbegun(error) || sandboxes === SANDBOXES_FOR_A_SCRIPT) throw error;
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** @throws what `isUnbegun` knows, if the sandbox went before the script had begun */
  async #runIn(
    job: ScriptJob,
    { signal, endBy, arrived, mayHaveBegun, onOutput }: RunInOptions,
  ): Promise<ScriptOutcome> {
    let taken: TakenSandbox | undefined;
    try {
      if (job.replaces !== undefined) await (await this.#pool.find(job.replaces, signal))?.discard();
      taken = mayHaveBegun ? await this.#pool.find(job.id, signal) : undefined;
      taken ??= await this.#takeNew(job, signal, endBy - LEAST_RUN_MS);
      const waitMs = performance.now() - arrived;
      const { runMs, tail: _, ...outcome } = await this.#follow(taken.sandbox, job, { signal, endBy, onOutput });
      void taken.discard(); // its caller need not wait for that
      return { ...outcome, durations: { waitMs, runMs }, isWarm: taken.isWarm };
    } catch (error) {
      if (this.#isLeft(signal)) taken?.leave();
      else await taken?.discard(); // a caller that has ended a script may count on its end
      throw error;
    }
  }

  /** A script that is left to others goes on, so its sandbox must not hear of the end. */
  async #follow(
    sandbox: Sandbox,
    job: ScriptJob,
    { signal, endBy, onOutput }: Pick<RunInOptions, "signal" | "endBy" | "onOutput">,
  ): Promise<JobOutcome> {
    signal.throwIfAborted();
    const ending = new AbortController();
    const left = Promise.withResolvers<never>();
    const end = (): void => (this.#isLeft(signal) ? left.reject(signal.reason) : ending.abort(signal.reason));
    signal.addEventListener("abort", end, { once: true });
    const { keepBytes } = this.#options;
    const following = runJob(sandbox, job, { signal: ending.signal, keepBytes, endBy, onOutput });
    following.catch(() => {}); // nobody hears of a job that is left
    try {
      return await Promise.race([following, left.promise]);
    } catch (error) {
      if (!signal.aborted)
        this.#options.log.error(
          { kind: this.kind, job: job.id, error: String(error), cause: causeOf(error) },
          "a sandbox broke while its script ran",
        );
      throw error;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  async #takeNew(job: ScriptJob, signal: AbortSignal, until: number): Promise<TakenSandbox> {
    for (let attempt = 1; ; attempt++) {
      const taken = await this.#pool.take(job.id, { signal, until });
      try {
        await taken.sandbox.assign?.(job);
        signal.throwIfAborted();
        return taken;
      } catch (error) {
        await taken.discard(SandboxFate.Unwanted);
        if (signal.aborted || attempt === ASSIGN_ATTEMPTS) throw error;
      }
    }
  }
}

/** What the sandbox's own programs have said, if they have. */
const causeOf = (error: unknown): string | undefined =>
  error instanceof Error && error.cause !== undefined ? String(error.cause) : undefined;

const lapsedError = (): ToolError =>
  new ToolError(
    ToolErrorCode.Timeout,
    "The script was ended: it had not come to its end by the deadline of its call.",
    { details: { mayHaveRun: true } },
  );
