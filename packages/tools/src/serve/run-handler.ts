import { pause } from "@rockbot/base";
import type { Delivery } from "@rockbot/bus";
import { ToolError, ToolErrorCode, type ToolInvokeRequest } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { LEASE_MS, READY_MS, RUN_MS, type Run, RunState } from "@rockbot/runs";
import { CallSteps } from "../layers/call-steps.ts";
import { unknownOutcome } from "../layers/claim.ts";
import { formOf, type RequestForm } from "../messages/request-form.ts";
import type { HeldRun } from "../runs/held-run.ts";
import { endOf, messageOf, type RunKeeperOptions } from "../runs/run-keeper.ts";
import type { AnswerWriter, Reply } from "./answer-writer.ts";
import type { CallEntry, createCallAudit } from "./call-audit.ts";
import { type Address, readRequest } from "./read-request.ts";
import { asAsked, type ServedCalls } from "./served-calls.ts";
import type { WaitingRequests } from "./waiting-requests.ts";

export interface RunHandlerOptions {
  readonly forms: readonly RequestForm[];
  readonly calls: ServedCalls;
  readonly waiting: WaitingRequests;
  readonly answers: AnswerWriter;
  readonly audited: ReturnType<typeof createCallAudit>;
}

/** After this time others than this instance have looked at a run, too. From then on it is looked at so often. */
const ABSENT_MS = 5_000;
/** A store that does not take an end is asked again so often. */
const NOTE_AGAIN_MS = 500;
/** Codes of refusals that pass: the run waits for its turn. */
const PASSING: ReadonlySet<string> = new Set([
  ToolErrorCode.Overloaded,
  ToolErrorCode.RateLimited,
  ToolErrorCode.Unavailable,
]);

/** Brings calls from their records to the tools of a service, as RequestHandler does for those in messages. */
export class RunHandler {
  readonly #options: RunHandlerOptions;

  constructor(options: RunHandlerOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the end of the run is noted in its record, or the run is left to be looked at later.
   * @param now the time of the store
   * @param signal aborts when the service stops, and its drain time is over
   */
  async handle(held: HeldRun, now: number, signal: AbortSignal): Promise<void> {
    const { forms, calls, waiting } = this.#options;
    const { run } = held;
    const message = messageOf(run);
    const { caller, operator } = run;
    const receivedAt = performance.now();
    const form = formOf(message, forms);
    const entry = this.#entryOf(run, receivedAt);
    const read = readRequest(message, form);
    if (read instanceof ToolError) return this.#end(held, read, entry, signal);
    const found = calls.find(read.request, message, caller);
    if (found instanceof ToolError) return this.#leaveUnfound(held, read.request, { now, entry, signal });
    using waits = waiting.add(message.timestamp, receivedAt);
    const delivery: Delivery = {
      signal: AbortSignal.any([signal, held.lost]),
      receivedAt,
      isRedelivered: run.attempt > 0,
    };
    const until = Math.max(0, ...run.waiters.map((waiter) => waiter.until));
    const [waiter] = run.waiters;
    const address: Address | undefined =
      waiter === undefined
        ? undefined
        : { topic: waiter.topic, correlationId: waiter.correlationId, caller, blob: waiter.blob };
    try {
      const { named, reply, decision } = await calls.perform(found, read.request, {
        sender: { caller, operator },
        message,
        delivery,
        address,
        form,
        entry,
        waiting: waits,
        deadline: receivedAt + (run.isKept ? RUN_MS + (run.handle?.at ?? now) : until) - now,
        steps: new CallSteps(receivedAt, "find", delivery.isRedelivered),
        run: held,
      });
      if (typeof reply === "string") return;
      const isPassing = reply instanceof ToolError && PASSING.has(reply.code);
      const hasBegunHere = held.run.hasStarted && held.isTaken && held.run.handle === undefined;
      if (isPassing && !hasBegunHere) return await held.leave();
      await entry.end(named, reply, decision);
      await this.#note(held, asAsked(read.request, reply), now + performance.now() - receivedAt, signal);
    } catch (error) {
      await held.leave();
      throw error;
    }
  }

  /** What a RunKeeper does with runs. */
  get forKeeper(): Pick<RunKeeperOptions, "execute" | "answer" | "audit" | "drop"> {
    return {
      execute: (...run) => this.handle(...run),
      answer: (...answer) => this.#answer(...answer),
      audit: (...ended) => this.#audit(...ended),
      drop: (run) => this.#drop(run),
    };
  }

  #answer(run: Run, address: Omit<Address, "caller">, reply: Reply, leftMs: number): Promise<void> {
    const form = formOf(run.message, this.#options.forms);
    return this.#options.answers.write({ ...address, caller: run.caller }, run, reply, performance.now() + leftMs, {
      form,
    });
  }

  async #drop(run: Run): Promise<void> {
    const message = messageOf(run);
    const read = readRequest(message, formOf(message, this.#options.forms));
    if (read instanceof ToolError || run.handle === undefined) return;
    const found = this.#options.calls.find(read.request, message, run.caller);
    if (!(found instanceof ToolError)) await found.dropHandle?.(run.handle.text);
  }

  async #audit(run: Run, end: Reply): Promise<void> {
    await this.#entryOf(run, performance.now()).end(run, end);
  }

  /** An instance that offers the tool takes the run, or it ends unserved. If its tool had begun, its end is unknown then. */
  async #leaveUnfound(
    held: HeldRun,
    request: ToolInvokeRequest,
    { now, entry, signal }: { readonly now: number; readonly entry: CallEntry; readonly signal: AbortSignal },
  ): Promise<void> {
    const { state, hasStarted, lease, readyAt = 0 } = held.run;
    const since = state === RunState.Running ? (lease?.until ?? 0) : readyAt;
    if (state !== RunState.Running || now < since + READY_MS) {
      if (now >= since + ABSENT_MS) await held.defer(now + ABSENT_MS);
      return;
    }
    await held.take(true);
    if (hasStarted) await this.#end(held, unknownOutcome(request), entry, signal);
    else await held.giveBack();
  }

  async #end(held: HeldRun, reply: ToolError, entry: CallEntry, signal: AbortSignal): Promise<void> {
    await entry.end(held.run, reply);
    await this.#note(held, reply, await held.now(), signal);
  }

  /** Notes the end, also where the store is away for less than the lease holds. */
  async #note(held: HeldRun, reply: Reply, at: number, signal: AbortSignal): Promise<void> {
    const end = endOf(held.run, reply, Math.round(at));
    for (let leftMs = LEASE_MS; ; leftMs -= NOTE_AGAIN_MS) {
      try {
        await held.end(end);
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailableError) || leftMs <= 0) throw error;
        await pause(NOTE_AGAIN_MS, AbortSignal.any([signal, held.lost]));
      }
    }
  }

  #entryOf(run: Run, receivedAt: number): CallEntry {
    const message = messageOf(run);
    const read = readRequest(message, formOf(message, this.#options.forms));
    return this.#options.audited(
      message,
      { caller: run.caller, operator: run.operator },
      read instanceof ToolError ? undefined : (read.request.arguments ?? ""),
      receivedAt,
    );
  }
}
