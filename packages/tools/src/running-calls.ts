import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { MAX_TIMEOUT_MS } from "./limits.ts";

/** Calls that were cancelled before they came here are remembered, as many as this, for as long as a call can wait. */
const MAX_TOMBSTONES = 10_000;

/** The calls that this instance runs now, so that each can be cancelled by the caller who made it, and by nobody else. */
export class RunningCalls {
  readonly #calls = new Map<string, Set<AbortController>>();
  /** When each call was cancelled that was not running, oldest first. */
  readonly #tombstones = new Map<string, { readonly reason: string; readonly at: number }>();

  /** Notes a call until disposed. Its signal aborts when the call is cancelled or `parent` aborts; it has, if the call was cancelled before. */
  start(caller: string, toolCallId: string, parent: AbortSignal): Disposable & { readonly signal: AbortSignal } {
    const key = keyOf(caller, toolCallId);
    const controller = new AbortController();
    const onAbort = () => controller.abort(parent.reason);
    parent.addEventListener("abort", onAbort, { once: true });
    const same = this.#calls.get(key) ?? new Set();
    this.#calls.set(key, same.add(controller)); // a redelivered call may run beside itself
    const tombstone = this.#tombstones.get(key);
    if (tombstone !== undefined && performance.now() - tombstone.at < MAX_TIMEOUT_MS) controller.abort(cancelled(tombstone.reason, false));
    return {
      signal: controller.signal,
      [Symbol.dispose]: () => {
        parent.removeEventListener("abort", onAbort);
        same.delete(controller);
        if (same.size === 0) this.#calls.delete(key);
      },
    };
  }

  cancel(caller: string, toolCallId: string, reason: string): void {
    const key = keyOf(caller, toolCallId);
    for (const controller of this.#calls.get(key) ?? []) controller.abort(cancelled(reason, true));
    this.#tombstones.delete(key);
    this.#tombstones.set(key, { reason, at: performance.now() });
    const oldest = this.#tombstones.keys().next().value;
    if (this.#tombstones.size > MAX_TOMBSTONES && oldest !== undefined) this.#tombstones.delete(oldest);
  }
}

function cancelled(reason: string, mayHaveRun: boolean): ToolError {
  return new ToolError(ToolErrorCode.Cancelled, `The call was cancelled: ${reason}`, { details: { mayHaveRun } });
}

/** Unambiguous, whatever the parts contain. */
const keyOf = (caller: string, toolCallId: string): string => JSON.stringify([caller, toolCallId]);
