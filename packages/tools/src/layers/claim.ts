import { metrics } from "@opentelemetry/api";
import { pause, RenewingLease, SlotMap } from "@rockbot/base";
import {
  newId,
  type ToolDefinition,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
  timeoutError,
} from "@rockbot/contracts";
import { StoreFullError, StoreUnavailableError } from "@rockbot/records";
import { type Claim, type ClaimKey, type ClaimOutcome, type ClaimStore, claimKeyText } from "@rockbot/records/claims";
import { END_KEPT_MS, QUESTION_MS, RUN_MS } from "@rockbot/runs";
import type { Tool } from "../define/define-tool.ts";
import type { ToolContext, ToolExecutor, ToolLayer } from "../define/tool-executor.ts";
import { hashRequest } from "../messages/hash-request.ts";
import { decodeReply, encodeReplyToKeep } from "../messages/reply.ts";
import { AskedError, RecordedError } from "../runs/questions.ts";
import { conflict, recordGone } from "../runs/run-errors.ts";
import { SupersededError } from "../superseded-error.ts";
import { toToolError } from "../to-tool-error.ts";

/**
 * A claim holds this long without a sign of its owner's life. An owner that dies keeps its call from others so long.
 */
const LEASE_MS = 10_000;
/** How often a call that somebody else runs is looked at. */
const WATCH_MS = 250;
/**
 * How long a call that was delivered before waits for a store that does not answer: only the store knows whether it was
 * started.
 */
const STORE_PATIENCE_MS = 5_000;
/** The clocks of two machines, of which neither is set, differ by less over the time that a call may take. */
const CLOCK_TOLERANCE_MS = 2_000;

/** The facts that decide whether a call may run again. */
interface ClaimedTool {
  readonly idempotent: boolean;
  readonly isResumable: boolean;
  readonly waitsForClaims: boolean;
}

/** The claims of one service in this process. */
export class CallClaims {
  readonly #store: ClaimStore;
  readonly #owner = newId();
  /** The calls that this process runs under a claim. */
  readonly #running = new SlotMap<
    string,
    { readonly requestHash: string; readonly outcome: Promise<ToolInvokeResponse> }
  >();
  readonly #seesAll: boolean;
  readonly #unavailable = metrics.getMeter("@rockbot/tools").createCounter("rockbot.tool.claims.unavailable", {
    description: "Times the store of claims did not answer, by operation: claim or complete.",
  });

  /** @param seesAll whether all who may take a call of this service claim it in this store */
  constructor(store: ClaimStore, { seesAll }: { readonly seesAll: boolean }) {
    this.#store = store;
    this.#seesAll = seesAll;
  }

  /** Makes sure that a call which is not taken yet never will be, and that one that runs has no result. */
  async cancel(key: ClaimKey): Promise<void> {
    await this.#store.cancel(key);
  }

  /**
   * Has a run hold a call that nobody has taken: no delivery of it can run it from then on.
   * @returns `run` if it is a run's already, `call` if it was taken without one
   */
  async occupy(
    key: ClaimKey,
    run: RunOfCall & { readonly toolName: string; readonly forMs: number },
  ): Promise<"ours" | "run" | "call"> {
    const { runId, requestHash, forMs } = run;
    const outcome = await this.#store.claim(key, { owner: RUN + runId, requestHash, leaseMs: forMs });
    if (outcome.state === "held") return isRuns(outcome) ? "run" : "call";
    if (outcome.state !== "taken") return "call";
    if (!outcome.isTakenOver) return "ours";
    // A process that is gone may have begun the call.
    const reply = encodeReplyToKeep({ toolName: run.toolName, toolCallId: key.toolCallId }, unknownOutcome(run)).body;
    await this.#store.complete(outcome.claim, reply);
    return "call";
  }

  /** Lets go of a call that no run holds after all. */
  async vacate(key: ClaimKey, run: RunOfCall): Promise<void> {
    await this.#store.release(claimOf(key, run));
  }

  /**
   * Runs a call effectively once, however often it is delivered. A repeat joins the run in this process, waits for the
   * one elsewhere, or gets the result that is kept. It does so, too, if the run that it has joined is taken over. If
   * the process that ran the call is gone, the call runs again only if the tool is idempotent or resumable. Else it
   * ends in `outcome_unknown`, as it does if the store does not say. Read-only tools run as often as they are
   * delivered, and pay no claim.
   */
  layer(
    definition: ToolDefinition,
    { isResumable = false, waitsForClaims = false }: Pick<Tool, "isResumable" | "waitsForClaims"> = {},
  ): ToolLayer {
    if (definition.readOnly) return (next) => next;
    return (next) => {
      const executor: ToolExecutor = {
        execute: (request, context) => {
          if (context.run !== undefined) return next.execute(request, context); // its record is its claim
          const key: ClaimKey = { caller: context.caller, toolCallId: request.toolCallId };
          const text = claimKeyText(key);
          const requestHash = hashRequest(request);
          const running = this.#running.get(text);
          if (running !== undefined) {
            if (running.requestHash !== requestHash) return Promise.reject(conflict(request));
            return running.outcome.catch((error: unknown) => {
              // The process that has taken the call over may be gone, and this repeat may be the only one left to
              // answer.
              if (error instanceof SupersededError) return executor.execute(request, context);
              throw error;
            });
          }
          const outcome = this.#execute(
            next,
            { idempotent: definition.idempotent, isResumable, waitsForClaims },
            { key, requestHash },
            request,
            context,
          ).finally(() => this.#running.delete(text));
          this.#running.set(text, { requestHash, outcome });
          return outcome;
        },
      };
      return executor;
    };
  }

  async #execute(
    next: ToolExecutor,
    tool: ClaimedTool,
    { key, requestHash }: { readonly key: ClaimKey; readonly requestHash: string },
    request: ToolInvokeRequest,
    context: ToolContext,
  ): Promise<ToolInvokeResponse> {
    const begunAt = performance.now();
    const answerDueAt = tool.waitsForClaims
      ? context.deadline
      : Math.min(begunAt + STORE_PATIENCE_MS, context.deadline);
    let { maybeTakenSince } = context;
    for (;;) {
      context.signal.throwIfAborted();
      let outcome: ClaimOutcome;
      try {
        outcome = await this.#store.claim(key, { owner: this.#owner, requestHash, leaseMs: LEASE_MS });
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        this.#unavailable.add(1, { operation: "claim" });
        if (tool.idempotent) return next.execute(request, context);
        const isOver = performance.now() >= answerDueAt;
        if (maybeTakenSince === undefined && (isOver || !tool.waitsForClaims)) throw notStarted(request, error);
        if (isOver) throw unknownOutcome(request);
        await pause(Math.max(1, Math.min(WATCH_MS, answerDueAt - performance.now())), context.signal);
        continue;
      }
      switch (outcome.state) {
        case "taken": {
          const mayHaveRun =
            outcome.isTakenOver || this.#mayBeForgotten({ maybeTakenSince, begunAt }, outcome.remembersSince);
          if (mayHaveRun && !tool.idempotent && !tool.isResumable)
            return this.#finish(outcome.claim, request, unknownOutcome(request));
          return this.#run(
            next,
            tool,
            outcome.claim,
            request,
            mayHaveRun ? { ...context, mayHaveBegun: true } : context,
          );
        }
        case "done":
          return settle((outcome.reply && decodeReply(outcome.reply)) ?? forgotten(request));
        case "cancelled":
          throw new ToolError(
            ToolErrorCode.Cancelled,
            `The call of "${request.toolName}" was cancelled, perhaps after it had begun: it may have had effects. Find out before you make another call of it.`,
            {
              details: { mayHaveRun: true },
            },
          );
        case "conflict":
          throw conflict(request);
        case "held":
          if (isRuns(outcome)) throw new RecordedError(recordGone(request));
          maybeTakenSince ??= performance.now();
          await this.#watch(context, outcome.leaseLeftMs, request);
      }
    }
  }

  /**
   * Tells whether another execution may have taken the call although the store has no claim: it has lost it, or never
   * got it.
   */
  #mayBeForgotten(
    { maybeTakenSince, begunAt }: { readonly maybeTakenSince: number | undefined; readonly begunAt: number },
    remembersSince: number,
  ): boolean {
    if (maybeTakenSince !== undefined) return !this.#seesAll || remembersSince + CLOCK_TOLERANCE_MS >= maybeTakenSince;
    return remembersSince > begunAt; // a copy may have come to another meanwhile, and the store have lost that claim
  }

  async #run(
    next: ToolExecutor,
    { idempotent }: ClaimedTool,
    claim: Claim,
    request: ToolInvokeRequest,
    context: ToolContext,
  ): Promise<ToolInvokeResponse> {
    let hasStarted = false;
    context.steps?.claimed();
    // One that is lost shows at the end.
    const hold = () => new RenewingLease({ leaseMs: LEASE_MS, renew: () => this.#store.renew(claim, LEASE_MS) });
    let lease = hold();
    /** The claim holds for as long as the record of the call, before that is written: nobody takes the call anew. */
    const noteHandle = async (handle: string): Promise<boolean> => {
      await lease[Symbol.asyncDispose]();
      const isOurs = await this.#store.renew(claim, RUN_HOLDS_MS).catch(() => false);
      if (isOurs && (await context.noteHandle?.(handle, true)) === true) return true;
      lease = hold();
      return false;
    };
    try {
      const response = await next.execute(request, {
        ...context,
        ...(context.noteHandle === undefined ? {} : { noteHandle }),
        onStarted: () => {
          hasStarted = true;
          context.onStarted?.();
        },
      });
      return await this.#finish(claim, request, response);
    } catch (error) {
      if (error instanceof AskedError) {
        void lease[Symbol.asyncDispose](); // a renewal would take it anew
        await this.#store.release(claim);
        throw error; // nothing was done yet, and a record takes the call now
      }
      if (error instanceof SupersededError || (context.signal.aborted && hasStarted)) throw error;
      const found = toToolError(error, request.toolName);
      // What others may have begun is not said not to have run.
      const isSure = !context.mayHaveBegun || idempotent || found.details?.["mayHaveRun"] !== false;
      const toolError = isSure ? found : unknownOutcome(request);
      if (hasStarted) return await this.#finish(claim, request, toolError);
      void lease[Symbol.asyncDispose](); // a renewal would take it anew
      await this.#store.release(claim).catch(() => {}); // else the lease ends it
      throw toolError;
    } finally {
      void lease[Symbol.asyncDispose]();
    }
  }

  /** Notes how the call ended, and ends it so. A store that is gone by now changes nothing for the caller. */
  async #finish(
    claim: Claim,
    request: ToolInvokeRequest,
    reply: ToolInvokeResponse | ToolError,
  ): Promise<ToolInvokeResponse> {
    let isOurs = true;
    try {
      isOurs = await this.#store.complete(claim, encodeReplyToKeep(request, reply).body);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      this.#unavailable.add(1, { operation: "complete" });
    }
    if (!isOurs) throw new SupersededError(`The call ${claim.key.toolCallId} was cancelled or taken over while it ran`);
    return settle(reply);
  }

  async #watch({ deadline, signal }: ToolContext, leaseLeftMs: number, request: ToolInvokeRequest): Promise<void> {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) {
      throw timeoutError(`"${request.toolName}", which is being run elsewhere,`, { mayHaveRun: true });
    }
    await pause(Math.min(leaseLeftMs + 1, WATCH_MS, leftMs + 1), signal);
  }
}

/** A run that holds a call. */
interface RunOfCall {
  readonly runId: string;
  readonly requestHash: string;
}

/** Owners that are runs, and no processes, begin so. */
const RUN = "run:";
/** How long the record of a call that goes on elsewhere has its claim. Its tool may ask a person for a day, too. */
const RUN_HOLDS_MS = QUESTION_MS + RUN_MS + END_KEPT_MS;

/** Tells whether the record of a call has its claim: no process takes one for so long. */
const isRuns = ({ owner, leaseLeftMs }: Extract<ClaimOutcome, { state: "held" }>): boolean =>
  owner.startsWith(RUN) || leaseLeftMs > LEASE_MS;

const claimOf = ({ caller, toolCallId }: ClaimKey, { runId, requestHash }: RunOfCall): Claim => ({
  key: { caller, toolCallId },
  owner: RUN + runId,
  epoch: 1,
  requestHash,
});

function settle(reply: ToolInvokeResponse | ToolError): ToolInvokeResponse {
  if (reply instanceof ToolError) throw reply;
  return reply;
}

function notStarted({ toolName }: ToolInvokeRequest, cause: StoreUnavailableError): ToolError {
  if (cause instanceof StoreFullError)
    return new ToolError(ToolErrorCode.Overloaded, `"${toolName}" was not started: ${cause.message}`, {
      details: { reason: "caller_share", mayHaveRun: false },
      cause,
    });
  return new ToolError(
    ToolErrorCode.Unavailable,
    `"${toolName}" was not started: the store that keeps a call from running twice does not answer. Try again later.`,
    { cause },
  );
}

/** The error of a call that was delivered before, and whose first execution is unknown. */
export function unknownOutcome({ toolName }: Pick<ToolInvokeRequest, "toolName">): ToolError {
  return new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `"${toolName}" may have been started by a service that is gone, and its outcome is lost. It may have had effects: find out before you call it again.`,
    { details: { mayHaveRun: true } },
  );
}

function forgotten({ toolName }: ToolInvokeRequest): ToolError {
  return new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `"${toolName}" has ended this call already, and its result is not kept any more. Do not call it again for the same purpose.`,
    { details: { mayHaveRun: true, reason: "result_not_kept" } },
  );
}
