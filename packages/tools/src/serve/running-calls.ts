import { type AbortSource, LightAbort, LinkedList, type ListEntry, RecentMap } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type ClaimKey, claimKeyText } from "@rockbot/records/claims";
import { MAX_TIMEOUT_MS, REMEMBERED_CANCELS } from "../limits.ts";

/** The most callers, at least, that are remembered. */
const MAX_CALLERS = 256;

/**
 * The calls that this instance runs now, so that each can be cancelled by the caller who made it, and by nobody else.
 */
export class RunningCalls {
  /** A redelivered call may run beside itself. Few are cancelled, so a cancel looks through all of them. */
  readonly #running = new LinkedList<RunningCall>();
  /** The signals that end calls, which have one listener each: each of many would be compared with all others. */
  readonly #parents = new WeakSet<AbortSignal>();
  /** Which calls were cancelled; of use for as long as a call can wait. */
  readonly #tombstones = new CallsOfCallers<{
    readonly reason: string;
    readonly at: number;
    readonly wasRunning: boolean;
  }>();
  /** Calls that ended here lately: one that is cancelled after its end did run. */
  readonly #ended = new CallsOfCallers<true>();

  /**
   * Notes a call until its end. Its signal aborts when the call is cancelled or `parent` aborts; it has, if the call
   * was cancelled before.
   */
  start(caller: string, toolCallId: string, parent: AbortSignal): { readonly signal: AbortSource; end(): void } {
    const call = new RunningCall({ caller, toolCallId }, parent, (ended) => this.#ended.set(caller, ended, true));
    call.entry = this.#running.add(call);
    this.#listenTo(parent);
    const tombstone = this.#tombstones.get(caller, call.key);
    if (tombstone !== undefined && performance.now() - tombstone.at < MAX_TIMEOUT_MS)
      call.signal.abort(cancelled(tombstone.reason, tombstone.wasRunning));
    return call;
  }

  cancel(caller: string, toolCallId: string, reason: string): void {
    const key = claimKeyText({ caller, toolCallId });
    let wasRunning = this.#ended.get(caller, key) === true || this.#tombstones.get(caller, key)?.wasRunning === true;
    for (const call of [...this.#running]) {
      if (call.key !== key) continue;
      wasRunning = true;
      call.signal.abort(cancelled(reason, true));
    }
    this.#tombstones.set(caller, key, { reason, at: performance.now(), wasRunning });
  }

  /** The callers whose calls of this id run here now. */
  callersOf(toolCallId: string): readonly string[] {
    return [...this.#running].filter((call) => call.toolCallId === toolCallId).map(({ caller }) => caller);
  }

  #listenTo(parent: AbortSignal): void {
    if (this.#parents.has(parent)) return;
    this.#parents.add(parent);
    parent.addEventListener("abort", () => {
      for (const call of [...this.#running]) if (call.parent === parent) call.signal.abort(parent.reason);
    });
  }
}

/** The known calls, for each caller by itself. */
class CallsOfCallers<Value> {
  readonly #callers = new RecentMap<string, RecentMap<string, Value>>(MAX_CALLERS);

  get(caller: string, key: string): Value | undefined {
    return this.#callers.get(caller)?.get(key);
  }

  set(caller: string, key: string, value: Value): void {
    const own = this.#callers.get(caller) ?? new RecentMap<string, Value>(REMEMBERED_CANCELS);
    own.set(key, value);
    this.#callers.set(caller, own);
  }
}

class RunningCall {
  readonly caller: string;
  readonly toolCallId: string;
  readonly key: string;
  readonly parent: AbortSignal;
  readonly signal = new LightAbort();
  readonly #onEnd: (key: string) => void;
  /** Its place among those that run. */
  entry: ListEntry | undefined;

  constructor(call: ClaimKey, parent: AbortSignal, onEnd: (key: string) => void) {
    this.caller = call.caller;
    this.toolCallId = call.toolCallId;
    this.key = claimKeyText(call);
    this.parent = parent;
    this.#onEnd = onEnd;
  }

  end(): void {
    this.entry?.remove();
    this.#onEnd(this.key);
  }
}

function cancelled(reason: string, mayHaveRun: boolean): ToolError {
  return new ToolError(
    ToolErrorCode.Cancelled,
    `The call was cancelled: ${reason}. If it is still wanted, make a new call of it.`,
    {
      details: { mayHaveRun },
    },
  );
}
