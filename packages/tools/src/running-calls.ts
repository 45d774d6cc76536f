import { ToolError, ToolErrorCode } from "@rockbot/contracts";

/** The calls that this instance runs now, so that each can be cancelled by the caller who made it, and by nobody else. */
export class RunningCalls {
  readonly #calls = new Map<string, Set<AbortController>>();

  /** Notes a call until disposed. Its signal aborts when the call is cancelled or `parent` aborts. */
  start(caller: string, toolCallId: string, parent: AbortSignal): Disposable & { readonly signal: AbortSignal } {
    const key = keyOf(caller, toolCallId);
    const controller = new AbortController();
    const onAbort = () => controller.abort(parent.reason);
    parent.addEventListener("abort", onAbort, { once: true });
    const same = this.#calls.get(key) ?? new Set();
    this.#calls.set(key, same.add(controller)); // a redelivered call may run beside itself
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
    for (const controller of this.#calls.get(keyOf(caller, toolCallId)) ?? []) {
      controller.abort(new ToolError(ToolErrorCode.Cancelled, `The call was cancelled: ${reason}`, { details: { mayHaveRun: true } }));
    }
  }
}

/** Unambiguous, whatever the parts contain. */
const keyOf = (caller: string, toolCallId: string): string => JSON.stringify([caller, toolCallId]);
