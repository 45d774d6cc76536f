import { type AbortSource, Deadlines, onAbort } from "@rockbot/base";
import { type ToolDefinition, timeoutError } from "@rockbot/contracts";
import type { ToolLayer } from "../define/tool-executor.ts";

const deadlines = new Deadlines();

/** The promises that say whether a call may be repeated. */
type Promises = Pick<ToolDefinition, "readOnly" | "idempotent">;

const quoted = (toolName: string): string => `"${toolName}"`;

/**
 * Ends a call at its deadline: aborts the signal, and answers `timeout` even if the tool ignores it. A call whose time
 * is over before it starts does not start. An aborted call ends with the signal's reason. The layers inside get an
 * AbortSignal, as tools need.
 */
export const deadline =
  (promises: Promises): ToolLayer =>
  (next) => ({
    execute(request, context) {
      const { signal } = context;
      const leftMs = context.deadline - performance.now();
      if (signal.aborted) return Promise.reject(signal.reason);
      if (leftMs <= 0) return Promise.reject(timeoutError(quoted(request.toolName), { mayHaveRun: false }));
      const own = new AbortController();
      const isRepeatSafe = promises.readOnly || promises.idempotent;
      try {
        const work = next.execute(request, { ...context, signal: own.signal });
        return inTime(work, {
          signal,
          leftMs,
          late: () => timeoutError(quoted(request.toolName), { mayHaveRun: true, isRepeatSafe }),
          onCut: (reason) => own.abort(reason),
        });
      } catch (error) {
        return Promise.reject(error); // an executor may throw before it returns a promise
      }
    },
  });

export interface InTimeOptions {
  readonly signal: AbortSource;
  readonly leftMs: number;
  /** The error that the wait fails with when the time is over. */
  readonly late: () => unknown;
  /** Told when the wait ends before the work. */
  readonly onCut?: ((reason: unknown) => void) | undefined;
}

/**
 * Waits for work until the call's time is over or the call is aborted. Then it fails with `late`, or with the signal's
 * reason.
 */
export function inTime<T>(work: Promise<T>, { signal, leftMs, late, onCut }: InTimeOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    let leave: (() => void) | undefined; // none yet where the signal has aborted
    const rest = () => {
      callOff();
      leave?.();
    };
    const cut = (reason: unknown) => {
      rest();
      onCut?.(reason);
      reject(reason);
    };
    const callOff = deadlines.after(leftMs, () => cut(late()));
    leave = onAbort(signal, () => cut(signal.reason));
    work.then(
      (result) => {
        rest();
        resolve(result);
      },
      (error: unknown) => {
        rest();
        reject(error);
      },
    );
  });
}
