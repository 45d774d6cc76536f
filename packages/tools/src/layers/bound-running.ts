import { type AbortSource, createFairQueue, LinkedList, onAbort } from "@rockbot/base";
import type { ToolInvokeRequest, ToolInvokeResponse } from "@rockbot/contracts";
import type { ToolContext, ToolExecutor, ToolLayer } from "../define/tool-executor.ts";

interface RunningCall {
  readonly signal: AbortSource;
  readonly place: Disposable;
}

/** How many calls run at once, and how many of them leave their place. */
export interface BoundRunningOptions {
  readonly concurrency: number;
  /** Calls that are without their place at a time: each has a handler still. One more keeps its place. */
  readonly away: number;
}

/**
 * Bounds how many calls run at once in this process, over all tools and callers that share the layer. Callers that wait
 * get places in rotation, until their calls' deadlines. A call leaves its place with its signal at the latest, also
 * where the tool ignores that. As many calls wait as have a handler and do not run: the bus bounds them. The signal is
 * the call's own. A tool that leaves its place can do so with `withoutPlace` of its context.
 */
export function boundRunning({
  concurrency,
  away: maxAway,
}: BoundRunningOptions): (options?: { readonly leavesPlace?: boolean | undefined }) => ToolLayer {
  const line = createFairQueue();
  /**
   * Their signals are not listened to before somebody waits, which a call on a service that is not full does not pay
   * for.
   */
  const unheard = new LinkedList<RunningCall>();
  let away = 0;

  return ({ leavesPlace = false } = {}) =>
    (next) => {
      const inner = leavesPlace ? leavable(next) : next;
      return {
        execute(request, context) {
          const granted = line.enterNow(concurrency);
          return granted === undefined ? waitAndRun(inner, request, context) : run(inner, request, context, granted);
        },
      };
    };

  async function run(
    next: PlacedExecutor,
    request: ToolInvokeRequest,
    context: ToolContext,
    granted: Disposable,
  ): Promise<ToolInvokeResponse> {
    const place = new LeavablePlace(granted);
    const entry = unheard.add({ signal: context.signal, place });
    try {
      return await next.execute(request, context, place);
    } finally {
      entry.remove();
      place[Symbol.dispose]();
    }
  }

  async function waitAndRun(
    next: PlacedExecutor,
    request: ToolInvokeRequest,
    context: ToolContext,
  ): Promise<ToolInvokeResponse> {
    const { signal } = context;
    using place = new LeavablePlace(await enter(context));
    endWithSignal({ signal, place });
    return await next.execute(request, context, place);
  }

  async function enter({ caller, signal }: Pick<ToolContext, "caller" | "signal">): Promise<Disposable> {
    const waiting = line.enter(caller, { concurrency, signal });
    for (const call of unheard.drain()) endWithSignal(call);
    return await waiting;
  }

  function leavable(next: ToolExecutor): PlacedExecutor {
    return {
      execute: (request, context, place) =>
        next.execute(request, { ...context, withoutPlace: (wait) => withoutPlace(place, context, wait) }),
    };
  }

  async function withoutPlace<T>(place: LeavablePlace, context: ToolContext, wait: () => Promise<T>): Promise<T> {
    const granted = away < maxAway ? place.leave() : undefined;
    if (granted === undefined) return await wait();
    away++;
    granted[Symbol.dispose]();
    try {
      return await wait();
    } finally {
      const again = await enter(context).catch(() => undefined); // a call that has ended needs none
      if (again !== undefined) place.takeAgain(again);
      away--;
    }
  }
}

interface PlacedExecutor {
  execute(request: ToolInvokeRequest, context: ToolContext, place: LeavablePlace): Promise<ToolInvokeResponse>;
}

/** A call's place, which it may leave and take again, until it is disposed of. */
class LeavablePlace implements Disposable {
  #granted: Disposable | undefined;
  #isOver = false;

  constructor(granted: Disposable) {
    this.#granted = granted;
  }

  /** @returns what gives it up; undefined if it was left before */
  leave(): Disposable | undefined {
    const granted = this.#granted;
    this.#granted = undefined;
    return granted;
  }

  takeAgain(granted: Disposable): void {
    if (this.#isOver) granted[Symbol.dispose]();
    else this.#granted = granted;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.leave()?.[Symbol.dispose]();
  }
}

function endWithSignal({ signal, place }: RunningCall): void {
  onAbort(signal, () => place[Symbol.dispose]());
}
