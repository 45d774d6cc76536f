import { PROGRESS_BURST, PROGRESS_INTERVAL_MS } from "../limits.ts";

/** Passes on the latest update at an even pace. */
export interface UpdatePace<Update> {
  report(this: void, update: Update): void;
  /** Hands on what is held back, and nothing any more: the answer follows. */
  end(): void;
}

/**
 * Hands on a call's updates in order: at once, unless many come, of which the newest is handed on each
 * PROGRESS_INTERVAL_MS. The last one always is.
 */
export function paceUpdates<Update>(send: (update: Update) => void): UpdatePace<Update> {
  /** When PROGRESS_BURST may be handed on at once again. */
  let restedAt = 0;
  let newest: { readonly update: Update } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  function sendNewest(): void {
    clearTimeout(timer);
    timer = undefined;
    const held = newest;
    newest = undefined;
    if (held === undefined) return;
    send(held.update);
    restedAt = Math.max(restedAt, performance.now()) + PROGRESS_INTERVAL_MS;
  }

  return {
    report(update) {
      if (isOver) return;
      newest = { update };
      const heldMs = restedAt - performance.now() - (PROGRESS_BURST - 1) * PROGRESS_INTERVAL_MS;
      if (heldMs <= 0) sendNewest();
      else timer ??= setTimeout(sendNewest, heldMs);
    },
    end() {
      isOver = true;
      sendNewest();
    },
  };
}
