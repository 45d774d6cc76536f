import { OldestFirstMap } from "@rockbot/async";
import { claimKeyText } from "@rockbot/claims";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { MAX_TIMEOUT_MS } from "./limits.ts";

/** As many calls that were cancelled, and that ended, are remembered. */
const MAX_REMEMBERED = 10_000;

/** The calls that this instance runs now, so that each can be cancelled by the caller who made it, and by nobody else. */
export class RunningCalls {
  readonly #calls = new Map<string, Set<AbortController>>();
  /** By the signal that ends them all, which has one listener: each of many would be compared with all others. */
  readonly #families = new WeakMap<AbortSignal, Set<AbortController>>();
  /** Which calls were cancelled, oldest first; of use for as long as a call can wait. */
  readonly #tombstones = new OldestFirstMap<string, { readonly reason: string; readonly at: number; readonly wasRunning: boolean }>();
  /** Calls that ended here lately, oldest first: one that is cancelled after its end did run. */
  readonly #ended = new OldestFirstMap<string, true>();

  /** Notes a call until disposed. Its signal aborts when the call is cancelled or `parent` aborts; it has, if the call was cancelled before. */
  start(caller: string, toolCallId: string, parent: AbortSignal): Disposable & { readonly signal: AbortSignal } {
    const key = claimKeyText({ caller, toolCallId });
    const controller = new AbortController();
    const family = this.#familyOf(parent).add(controller);
    const same = this.#calls.get(key) ?? new Set();
    this.#calls.set(key, same.add(controller)); // a redelivered call may run beside itself
    const tombstone = this.#tombstones.get(key);
    if (tombstone !== undefined && performance.now() - tombstone.at < MAX_TIMEOUT_MS) controller.abort(cancelled(tombstone.reason, tombstone.wasRunning));
    return {
      signal: controller.signal,
      [Symbol.dispose]: () => {
        family.delete(controller);
        same.delete(controller);
        if (same.size > 0) return;
        this.#calls.delete(key);
        this.#ended.set(key, true);
        this.#ended.deleteOldestWhile(() => this.#ended.size > MAX_REMEMBERED);
      },
    };
  }

  #familyOf(parent: AbortSignal): Set<AbortController> {
    const known = this.#families.get(parent);
    if (known !== undefined) return known;
    const family = new Set<AbortController>();
    this.#families.set(parent, family);
    parent.addEventListener("abort", () => {
      for (const controller of family) controller.abort(parent.reason);
    });
    return family;
  }

  cancel(caller: string, toolCallId: string, reason: string): void {
    const key = claimKeyText({ caller, toolCallId });
    for (const controller of this.#calls.get(key) ?? []) controller.abort(cancelled(reason, true));
    const wasRunning = this.#calls.has(key) || this.#ended.has(key) || this.#tombstones.get(key)?.wasRunning === true;
    this.#tombstones.set(key, { reason, at: performance.now(), wasRunning });
    this.#tombstones.deleteOldestWhile(() => this.#tombstones.size > MAX_REMEMBERED);
  }
}

function cancelled(reason: string, mayHaveRun: boolean): ToolError {
  return new ToolError(ToolErrorCode.Cancelled, `The call was cancelled: ${reason}. If it is still wanted, make a new call of it.`, {
    details: { mayHaveRun },
  });
}
