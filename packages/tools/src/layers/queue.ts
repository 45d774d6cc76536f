import { createFairQueue, type FairQueue } from "@rockbot/base";
import { ToolError, ToolErrorCode, type ToolInvokeRequest, type ToolInvokeResponse } from "@rockbot/contracts";
import type { Decision } from "@rockbot/policy";
import type { ToolContext, ToolExecutor, ToolLayer } from "../define/tool-executor.ts";

/** A guess, so that callers do not come back at once. */
const RETRY_AFTER_MS = 1_000;

/**
 * Bounds the calls that run at once in this process. One bound is for one tool and one caller, one for the queue that
 * the policy puts the tool in. Callers that wait have their turns in rotation. As many calls of one caller wait as may
 * run, and in a queue as many as the policy says; beyond, the answer is `overloaded`. The wait ends with the call's
 * deadline.
 */
export function queue(): ToolLayer {
  const queues = new Map<string, FairQueue>();

  async function enter(
    name: string,
    limits: { concurrency: number; waiting: number },
    toolName: string,
    { caller, signal, decision }: ToolContext,
  ): Promise<Disposable> {
    const line = queues.get(name) ?? createFairQueue();
    queues.set(name, line);
    const leave = () => {
      if (line.isIdle && queues.get(name) === line) queues.delete(name);
    };
    let turn: Disposable | undefined;
    try {
      turn = await line.enter(caller, { ...limits, signal });
    } finally {
      if (turn === undefined) leave();
    }
    if (turn === undefined) {
      throw new ToolError(
        ToolErrorCode.Overloaded,
        `"${toolName}" was not run: ${limits.concurrency} calls run, the most that may at once, and too many wait. Try again later.`,
        { retryAfterMs: RETRY_AFTER_MS, details: { reason: "queue", revision: decision?.revision } },
      );
    }
    const held = turn;
    return {
      [Symbol.dispose]() {
        held[Symbol.dispose]();
        leave();
      },
    };
  }

  return (next) => ({
    execute(request, context) {
      const { decision } = context;
      if (decision === undefined || (decision.concurrency === undefined && decision.queue === undefined))
        return next.execute(request, context);
      return inTurn(next, request, context, decision);
    },
  });

  async function inTurn(
    next: ToolExecutor,
    request: ToolInvokeRequest,
    context: ToolContext,
    { concurrency, queue: shared }: Decision,
  ): Promise<ToolInvokeResponse> {
    const { caller } = context;
    const { toolName } = request;
    using _own =
      concurrency === undefined
        ? undefined
        : await enter(JSON.stringify([toolName, caller]), { concurrency, waiting: concurrency }, toolName, context);
    using _shared = shared === undefined ? undefined : await enter(shared.name, shared, toolName, context);
    return await next.execute(request, context);
  }
}
