import { type AbortSource, createFairQueue, LinkedList, onAbort } from "@rockbot/base";
import type { ToolInvokeRequest, ToolInvokeResponse } from "@rockbot/contracts";
import type { ToolContext, ToolExecutor, ToolLayer } from "../define/tool-executor.ts";

interface RunningCall {
  readonly signal: AbortSource;
  readonly turn: Disposable;
}

/**
 * Bounds how many calls run at once in this process, over all tools and callers that share the layer. Callers that wait have
 * their turns in rotation, until their calls' deadlines. A call's turn ends with its signal at the latest, also where the
 * tool ignores that. As many calls wait as have a handler and do not run: the bus bounds them. The signal is the call's own.
 */
export function boundRunning(concurrency: number): ToolLayer {
  const line = createFairQueue();
  /** Their signals are not listened to before somebody waits, which a call on a service that is not full does not pay for. */
  const unheard = new LinkedList<RunningCall>();

  return (next) => ({
    execute(request, context) {
      const turn = line.enterNow(concurrency);
      return turn === undefined ? waitAndRun(next, request, context) : run(next, request, context, turn);
    },
  });

  async function run(next: ToolExecutor, request: ToolInvokeRequest, context: ToolContext, turn: Disposable): Promise<ToolInvokeResponse> {
    const entry = unheard.add({ signal: context.signal, turn });
    try {
      return await next.execute(request, context);
    } finally {
      entry.remove();
      turn[Symbol.dispose]();
    }
  }

  async function waitAndRun(next: ToolExecutor, request: ToolInvokeRequest, context: ToolContext): Promise<ToolInvokeResponse> {
    const { caller, signal } = context;
    const waiting = line.enter(caller, { concurrency, waiting: Number.POSITIVE_INFINITY, signal });
    for (const call of unheard.drain()) endWithSignal(call);
    using turn = (await waiting) as Disposable; // none has to leave a line without end
    endWithSignal({ signal, turn });
    return await next.execute(request, context);
  }
}

function endWithSignal({ signal, turn }: RunningCall): void {
  onAbort(signal, () => turn[Symbol.dispose]());
}
